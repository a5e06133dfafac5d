/** `trial-balance`: every account, and the sum of each currency. */
import type { TrialBalanceLine__Output } from '../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import { formatWireAmount } from './amounts.js'
import { CommandFault, type CliCommand } from './command.js'
import { tenantNamed } from './tenant.js'
import { table } from './terminal.js'

const ENVIRONMENT = /^(.+)_(sandbox|production)$/

export const trialBalance: CliCommand = {
  usage: 'trial-balance [PARTNER_ENV]',
  about: 'all accounts, e.g. of demo_sandbox, and whether the ledger balances',
  run: async ({ operator, partners, paint }, [text]) => {
    const named = text === undefined ? undefined : parseTenant(text)
    const report = await operator.call(
      'TrialBalance',
      named === undefined ? {} : { tenant: await tenantNamed({ partners }, ...named) },
    )
    const rows = report.lines.map(({ tenant: owner, account, currency, balance }) => [
      owner,
      account,
      formatWireAmount(currency, balance),
    ])
    return {
      value: report,
      exitCode: report.balanced ? 0 : 1,
      lines: [
        table([['tenant', 'account', 'balance'], ...rows], [2]),
        ...sumsOf(report.lines).map(
          ([currency, sum]) => `sum  ${formatWireAmount(currency, sum.toString())}`,
        ),
        report.balanced
          ? paint('good', 'The books balance.')
          : paint('bad', 'THE BOOKS DO NOT BALANCE.'),
      ],
    }
  },
}

function parseTenant(text: string): [partner: string, environment: string] {
  const [, partner, environment] = ENVIRONMENT.exec(text) ?? []
  if (partner === undefined || environment === undefined) {
    throw new CommandFault(`${text} is not a tenant: use the form demo_sandbox.`)
  }
  return [partner, environment]
}

/** Independent of the `balanced` flag of the service. */
export function sumsOf(lines: readonly TrialBalanceLine__Output[]): [string, bigint][] {
  const sums = new Map<string, bigint>()
  for (const { currency, balance } of lines) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balance))
  }
  return [...sums]
}
