/**
 * The operator CLI: `make ops ARGS="…"`.
 *
 * Owns: running what was typed, printing its report, exit codes: 0 done, 1 refused or failed, 2
 * typed wrong. Does not own: what the words mean (command_line), the commands. It talks to the
 * stack whose DATA_DIR the environment names.
 */
import { systemClock } from '../base/clock.js'
import { readSettings } from '../base/settings.js'
import { CommandFault, type Report } from './command.js'
import { readCommandLine } from './command_line.js'
import {
  connectOperator,
  connectPartnerAdmin,
  connectRecovery,
  connectWebhookAdmin,
} from './operator_client.js'
import type { Flags } from './options.js'
import { findSandbox } from './sandbox.js'
import { paintFor } from './terminal.js'

async function main(): Promise<void> {
  const typed = readCommandLine(process.argv.slice(2))
  if ('help' in typed) return console.log(typed.help)
  const { command, args, flags } = typed
  if ('runLocally' in command) return print(command.runLocally(paintFor(process.stdout)), flags)
  const sandbox = findSandbox()
  if (sandbox === undefined) {
    throw new CommandFault(`No stack has run with DATA_DIR=${readSettings().DATA_DIR}: make run`)
  }
  const operator = connectOperator(sandbox, systemClock)
  const partners = connectPartnerAdmin(sandbox, systemClock)
  const webhooks = connectWebhookAdmin(sandbox, systemClock)
  const recovery = connectRecovery(sandbox, systemClock)
  try {
    const report = await command.run(
      {
        sandbox,
        operator,
        partners,
        webhooks,
        recovery,
        clock: systemClock,
        paint: paintFor(process.stdout),
        flags,
        servesProduction: sandbox.serves_production,
      },
      args,
    )
    print(report, flags)
  } finally {
    operator.close()
    partners.close()
    webhooks.close()
    recovery.close()
  }
}

function print(report: Report, flags: Flags): void {
  const text = flags.json === true ? jsonOf(report.value) : report.lines.join('\n')
  if (report.isAside === true) console.error(text)
  else console.log(text)
  process.exitCode = report.exitCode ?? 0
}

/** Without the marks `_name: 'name'`, by which the contracts' loader says that `name` is there. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (name, member: unknown) => (member === markedBy(name) ? undefined : member))

const markedBy = (name: string): string | undefined =>
  name.startsWith('_') ? name.slice(1) : undefined

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(error instanceof CommandFault ? 2 : 1)
})
