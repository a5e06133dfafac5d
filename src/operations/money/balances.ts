/** `balances`: every account as it was at a moment. */
import { CommandFault, type CliCommand } from '../cli/command.js'
import { tenantNamed } from '../cli/tenant.js'
import { withLedgers, type BalanceLine } from './ledger_client.js'
import { momentIn } from './statement_comparison.js'
import { balanceLines, parseTenant, sumsOf } from './trial_balance.js'

export const balances: CliCommand = {
  usage: 'balances [PARTNER_ENV]',
  about: 'all accounts, e.g. of demo_sandbox, as they were at a moment: --at DAY',
  options: ['at'],
  run: async ({ access, clock, flags, paint, partners }, [text]) => {
    const named = text === undefined ? undefined : parseTenant(text)
    if (named !== undefined) await tenantNamed({ partners }, ...named)
    const tenant = named?.join('_')
    const at = momentIn('at', flags.at)
    if (at > clock.now()) throw new CommandFault('--at must not be in the future.')
    const found = await withLedgers(access, async (sources) => {
      const all: BalanceLine[] = []
      for (const source of sources) {
        for await (const page of source.balances(at)) all.push(...page.balances)
      }
      return all
    })
    const lines = found.filter((line) => line.tenant === (tenant ?? line.tenant))
    const isBalanced = sumsOf(lines).every(([, sum]) => sum === 0n)
    return {
      value: { lines, balanced: isBalanced },
      exitCode: isBalanced ? 0 : 1,
      lines: [
        ...balanceLines(lines),
        isBalanced
          ? paint('good', 'The books balance.')
          : paint('bad', 'THE BOOKS DO NOT BALANCE.'),
      ],
    }
  },
}
