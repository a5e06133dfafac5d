/**
 * One call of the operator CLI: parses the command line, runs the command, prints its report.
 *
 * - Exit codes: 0 done, 1 refused or failed, 2 usage error.
 */
import type { Writable } from 'node:stream'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { CommandFault, type Report } from './command.js'
import { readCommandLine } from './command_line.js'
import {
  connectApprovals,
  connectCallers,
  connectOperator,
  connectPartnerAdmin,
  connectRecovery,
  connectWebhookAdmin,
} from './operator_client.js'
import type { Flags } from './options.js'
import { operatorAccess } from './operator_token.js'
import { findSandbox } from './sandbox.js'
import type { Paint } from './terminal.js'

/** Where a call prints. */
export interface Output {
  readonly paint: Paint
  readonly out: Writable
  readonly err: Writable
}

/** @param settings they name the DATA_DIR of the stack; read only by a command that needs one */
export async function runOperatorCli(
  words: readonly string[],
  settings: () => Settings,
  output: Output,
): Promise<number> {
  try {
    return await runCommand(words, settings, output)
  } catch (error) {
    output.err.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof CommandFault ? 2 : 1
  }
}

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
    return print(await command.runLocally(output.paint, settings), flags, output)
  }
  const sandbox = findSandbox(settings())
  if (sandbox === undefined) {
    throw new CommandFault(`No stack has run with DATA_DIR=${settings().DATA_DIR}: make run`)
  }
  const access = operatorAccess(sandbox, settings())
  const operator = connectOperator(access, systemClock)
  const partners = connectPartnerAdmin(access, systemClock)
  const webhooks = connectWebhookAdmin(access, systemClock)
  const recovery = connectRecovery(access, systemClock)
  const callers = connectCallers(access, systemClock)
  const approvals = connectApprovals(access, systemClock)
  try {
    const report = await command.run(
      {
        sandbox,
        access,
        operator,
        partners,
        webhooks,
        recovery,
        callers,
        approvals,
        clock: systemClock,
        paint: output.paint,
        out: output.out,
        flags,
        servesProduction: sandbox.serves_production,
      },
      args,
    )
    return print(report, flags, output)
  } finally {
    operator.close()
    partners.close()
    webhooks.close()
    recovery.close()
    callers.close()
    approvals.close()
  }
}

function print(report: Report, flags: Flags, { out, err }: Output): number {
  const text = flags.json === true ? jsonOf(report.value) : report.lines.join('\n')
  const stream = report.isAside === true ? err : out
  stream.write(`${text}\n`)
  return report.exitCode ?? 0
}

/** Without the members `_name: 'name'` that proto-loader adds for optional fields. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (name, member: unknown) =>
    member === optionalFieldOf(name) ? undefined : member,
  )

const optionalFieldOf = (name: string): string | undefined =>
  name.startsWith('_') ? name.slice(1) : undefined
