/**
 * The operator CLI: `make ops ARGS="…"`.
 *
 * Owns: finding the command, printing its report, exit codes: 0 done, 1 refused or failed, 2 typed
 * wrong. Does not own: the commands. It talks to the stack whose DATA_DIR the environment names.
 */
import { parseArgs } from 'node:util'
import { systemClock } from '../base/clock.js'
import { readSettings } from '../base/settings.js'
import { actions } from './actions.js'
import { balanceAlert, deposit, keyIssue, partnerCreate, ratesList, ratesSet } from './changes.js'
import { CommandFault, type Command, type Flags } from './command.js'
import { discrepancyList, discrepancyResolve } from './discrepancies.js'
import { intentResolve, intentShow, unknownList } from './intents.js'
import { keyList, keyRevoke } from './keys.js'
import { listen } from './listen.js'
import { masterKeyList, masterKeyReencrypt } from './master_keys.js'
import { connectOperator, connectPartnerAdmin, connectWebhookAdmin } from './operator_client.js'
import {
  partnerAllowIps,
  partnerCorridors,
  partnerList,
  partnerPackages,
  partnerRateLimit,
  partnerResume,
  partnerSuspend,
} from './partners.js'
import {
  payoutApprove,
  payoutReject,
  payoutResolve,
  payoutReverse,
  payoutsHeld,
} from './payouts.js'
import { reconcileStatement } from './reconcile.js'
import { routesList, routesSet } from './routes.js'
import { findSandbox } from './sandbox.js'
import { sign } from './sign.js'
import { paintFor, table } from './terminal.js'
import { trialBalance } from './trial_balance.js'
import { verify } from './verify.js'
import {
  webhooksDead,
  webhooksDisable,
  webhooksEnable,
  webhooksEndpoints,
  webhooksPoison,
  webhooksRedrive,
  webhooksStatus,
} from './webhooks.js'

const COMMANDS: readonly Command[] = [
  partnerCreate,
  partnerList,
  partnerSuspend,
  partnerResume,
  partnerAllowIps,
  partnerPackages,
  partnerCorridors,
  partnerRateLimit,
  keyIssue,
  keyList,
  keyRevoke,
  deposit,
  ratesList,
  ratesSet,
  routesList,
  routesSet,
  balanceAlert,
  payoutsHeld,
  payoutApprove,
  payoutReject,
  payoutResolve,
  payoutReverse,
  intentShow,
  intentResolve,
  unknownList,
  discrepancyList,
  discrepancyResolve,
  trialBalance,
  reconcileStatement,
  actions,
  masterKeyList,
  masterKeyReencrypt,
  webhooksStatus,
  webhooksEndpoints,
  webhooksDead,
  webhooksRedrive,
  webhooksEnable,
  webhooksDisable,
  webhooksPoison,
  listen,
  sign,
  verify,
]

const OPTIONS = {
  as: { type: 'string' },
  reason: { type: 'string' },
  evidence: { type: 'string' },
  cursor: { type: 'string' },
  resolved: { type: 'boolean' },
  body: { type: 'string' },
  header: { type: 'string', multiple: true },
  canonical: { type: 'string' },
  'secret-file': { type: 'string' },
  port: { type: 'string' },
  'forward-to': { type: 'string' },
  endpoint: { type: 'string' },
  since: { type: 'string' },
  'idempotency-key': { type: 'string' },
  'no-funds': { type: 'boolean' },
  json: { type: 'boolean' },
  from: { type: 'string' },
  to: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

async function main(): Promise<void> {
  const { flags, words } = typed()
  if (words.length === 0) return console.log(usage(COMMANDS))
  if (words[0] === 'help') return console.log(usage(commandsUnder(words.slice(1))))
  if (flags.help === true) return console.log(usage(commandsUnder(words)))
  const { command, args } = find(words)
  const sandbox = findSandbox()
  if (sandbox === undefined) {
    throw new CommandFault(`No stack has run with DATA_DIR=${readSettings().DATA_DIR}: make run`)
  }
  const operator = connectOperator(sandbox, systemClock)
  const partners = connectPartnerAdmin(sandbox, systemClock)
  const webhooks = connectWebhookAdmin(sandbox, systemClock)
  try {
    const report = await command.run(
      {
        sandbox,
        operator,
        partners,
        webhooks,
        clock: systemClock,
        paint: paintFor(process.stdout),
        flags,
        servesProduction: sandbox.serves_production,
      },
      args,
    )
    const told = flags.json === true ? jsonOf(report.value) : report.lines.join('\n')
    if (report.isAside === true) console.error(told)
    else console.log(told)
    process.exitCode = report.exitCode ?? 0
  } finally {
    operator.close()
    partners.close()
    webhooks.close()
  }
}

/** Without the marks `_name: 'name'`, by which the contracts' loader says that `name` is there. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (name, member: unknown) => (member === markedBy(name) ? undefined : member))

const markedBy = (name: string): string | undefined =>
  name.startsWith('_') ? name.slice(1) : undefined

function typed(): { flags: Flags; words: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
    return { flags: values, words: positionals }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // What follows is Node's advice on words that begin with a hyphen.
    const [fault = ''] = error.message.split('. To specify', 1)
    throw new CommandFault(`${fault}. See --help.`)
  }
}

/** The command whose words come first, with as many arguments as its usage asks for. */
function find(words: readonly string[]): { command: Command; args: readonly string[] } {
  for (const command of COMMANDS) {
    const parts = command.usage.split(' ')
    const names = namesOf(command)
    if (!names.every((name, i) => words[i] === name)) continue
    const args = words.slice(names.length)
    const most = parts.length - names.length
    const least = parts.filter((part) => /^[A-Z_]+$/.test(part)).length
    if (args.length >= least && args.length <= most) return { command, args }
    throw new CommandFault(`usage: ${command.usage}`)
  }
  throw new CommandFault(
    `There is no command "${words.join(' ')}".\n\n${usage(commandsUnder(words))}`,
  )
}

const namesOf = ({ usage }: Command): string[] =>
  usage.split(' ').filter((part) => /^[a-z-]+$/.test(part))

/** Those that begin with as many of the words as any does. */
function commandsUnder(words: readonly string[]): readonly Command[] {
  for (let length = words.length; length > 0; length -= 1) {
    const first = words.slice(0, length)
    const under = COMMANDS.filter((command) => {
      const names = namesOf(command)
      return first.every((word, i) => word === names[i])
    })
    if (under.length > 0) return under
  }
  return COMMANDS
}

const usage = (commands: readonly Command[]): string =>
  [
    'usage: make ops ARGS="COMMAND …"',
    '',
    table(
      commands.map((command) => [`  ${command.usage}`, command.about]),
      [],
    ),
    '',
    'Every change: --as NAME --reason TEXT (must be given for production).',
    'Every command: --json for machines, --help.',
  ].join('\n')

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(error instanceof CommandFault ? 2 : 1)
})
