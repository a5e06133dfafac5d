/**
 * The operator CLI: `make ops ARGS="…"`, against the stack of DATA_DIR.
 *
 * - Exit codes: 0 done, 1 refused or failed, 2 usage error.
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
  const parsed = readCommandLine(process.argv.slice(2))
  if ('help' in parsed) return console.log(parsed.help)
  const { command, args, flags } = parsed
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

/** Without the members `_name: 'name'` that proto-loader adds for optional fields. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (name, member: unknown) =>
    member === optionalFieldOf(name) ? undefined : member,
  )

const optionalFieldOf = (name: string): string | undefined =>
  name.startsWith('_') ? name.slice(1) : undefined

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(error instanceof CommandFault ? 2 : 1)
})
