/**
 * One call of the operator CLI: parses the command line, runs the command, prints its report.
 *
 * - Exit codes: 0 done, 1 refused or failed, 2 usage error.
 */
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../settings/settings.js'
import { CommandFault, type Report } from './cli/command.js'
import { readCommandLine } from './command_line.js'
import { closeOperatorClients, connectOperatorClients } from './calls/operator_client.js'
import { toVisibleJson } from '../base/visible_text.js'
import { processorAddresses } from '../grpc/processor_addresses.js'
import { Unanswered, type OperatorAccess } from './calls/calls.js'
import type { Flags } from './cli/options.js'
import { findShards, missingShardsIn } from './calls/shards.js'
import { operatorAccess } from './calls/operator_token.js'
import { LOGS_FOLDER } from './payments/request_logs.js'
import { findSandbox } from './calls/sandbox.js'
import { confirmed } from './cli/confirmation.js'
import { terminalMessage, terminalText, type Output } from './cli/terminal.js'

/** @param settings they name the DATA_DIR of the stack; read only by a command that needs one */
export async function runOperatorCli(
  words: readonly string[],
  settings: () => Settings,
  output: Output,
): Promise<number> {
  try {
    return await runCommand(words, settings, output)
  } catch (error) {
    const message = messageOf(error)
    output.err.write(`${terminalMessage(message)}\n`)
    return error instanceof CommandFault ? 2 : 1
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Unanswered) return `${error.message}\n${MAY_BE_DONE}`
  return error instanceof Error ? error.message : String(error)
}

const MAY_BE_DONE = 'If it was a change, look whether it was made before you repeat it.'

async function runCommand(
  words: readonly string[],
  settings: () => Settings,
  output: Output,
): Promise<number> {
  const parsed = readCommandLine(words)
  if ('help' in parsed) {
    output.out.write(`${parsed.help}\n`)
    return 0
  }
  const { command, args, flags } = parsed
  if ('runLocally' in command) {
    const given = { args, flags, out: output.out }
    return print(await command.runLocally(output.paint, settings, given), flags, output)
  }
  const found = findSandbox(settings())
  if (found === undefined && settings().OPERATOR_TOKEN_FILE === '') {
    throw new CommandFault(
      `No stack has run with DATA_DIR=${settings().DATA_DIR}: make run. ` +
        'On another machine set PROCESSOR_ADDRESS and OPERATOR_TOKEN_FILE.',
    )
  }
  const access = await shardAccess(operatorAccess(found, settings()), settings(), flags)
  const clients = connectOperatorClients(access, systemClock)
  try {
    const report = await command.run(
      {
        get sandbox() {
          if (found !== undefined) return found
          throw new CommandFault('This command needs the sandbox.json of the stack in DATA_DIR.')
        },
        access,
        ...clients,
        clock: systemClock,
        logs: join(settings().DATA_DIR, LOGS_FOLDER),
        paint: output.paint,
        out: output.out,
        tell: (line) => void output.err.write(`${terminalMessage(line)}\n`),
        confirm: (lines, question) => confirmed(lines, question, flags, output),
        flags,
        servesProduction: found?.serves_production ?? true,
      },
      args,
    )
    return print(withMissing(report), flags, output)
  } finally {
    closeOperatorClients(clients)
  }
}

/**
 * Where calls go: to the only processor, to the owner of the shard that `--shard` names, or to all
 * owners.
 */
async function shardAccess(
  access: OperatorAccess,
  { PROCESSORS }: Settings,
  { shard }: Flags,
): Promise<OperatorAccess> {
  if (PROCESSORS.length === 0) {
    if (shard === undefined) return access
    throw new CommandFault('--shard needs the setting PROCESSORS, which names all processors.')
  }
  const shards = await findShards(await processorAddresses(PROCESSORS), access, systemClock)
  if (shard === undefined) return { ...access, shards }
  const address = shards.reached.get(shard)
  if (address !== undefined) return { ...access, address, among: shards }
  throw new CommandFault(
    shards.missing.includes(shard)
      ? `No processor of PROCESSORS has ${shard} now.`
      : `There is no shard ${shard}: ${[...shards.reached.keys()].join(', ')}.`,
  )
}

/** A report that lacks a shard says so, and fails. */
function withMissing(report: Report): Report {
  const missing = missingShardsIn(report.value)
  if (missing.length === 0) return report
  return {
    ...report,
    lines: [...report.lines, `INCOMPLETE: ${missing.join(', ')} did not answer.`],
    exitCode: Math.max(report.exitCode ?? 0, 1),
  }
}

function print(report: Report, flags: Flags, { out, err }: Output): number {
  const text = flags.json === true ? jsonOf(report.value) : terminalText(report.lines)
  const stream = report.isAside === true ? err : out
  stream.write(`${text}\n`)
  return report.exitCode ?? 0
}

/**
 * Without the members `_name: 'name'` that decoded messages have for optional fields. The metadata
 * of a payment are a partner's, and may have such members.
 */
const jsonOf = (value: object): string => {
  const ofPartner = new WeakSet<object>()
  return toVisibleJson(
    JSON.stringify(value, function (this: object, name, member: unknown) {
      if (ofPartner.has(this)) return member
      if (name === 'metadata' && typeof member === 'object' && member !== null)
        ofPartner.add(member)
      return member === optionalFieldOf(name) ? undefined : member
    }),
  )
}

const optionalFieldOf = (name: string): string | undefined =>
  name.startsWith('_') ? name.slice(1) : undefined
