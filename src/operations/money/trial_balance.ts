/** `trial-balance`: every account, and the sum of each currency. */
import type { TrialBalanceLine__Output } from '../../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand } from '../cli/command.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'

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
    return {
      value: report,
      exitCode: report.balanced ? 0 : 1,
      lines: [
        ...balanceLines(report.lines),
        report.balanced
          ? paint('good', 'The books balance.')
          : paint('bad', 'THE BOOKS DO NOT BALANCE.'),
      ],
    }
  },
}

export function parseTenant(text: string): [partner: string, environment: string] {
  const [, partner, environment] = ENVIRONMENT.exec(text) ?? []
  if (partner === undefined || environment === undefined) {
    throw new CommandFault(`${text} is not a tenant: use the form demo_sandbox.`)
  }
  return [partner, environment]
}

/** The balances as a table, and the sum of each currency. */
export function balanceLines(lines: readonly TrialBalanceLine__Output[]): readonly string[] {
  const rows = lines.map(({ tenant, account, currency, balance }) => [
    ...[tenant, account, formatWireAmount(currency, balance)],
  ])
  return [
    table([['tenant', 'account', 'balance'], ...rows], [2]),
    ...sumsOf(lines).map(([currency, sum]) => `sum  ${formatWireAmount(currency, sum.toString())}`),
  ]
}

/** Independent of the `balanced` flag of the service. */
export function sumsOf(lines: readonly TrialBalanceLine__Output[]): [string, bigint][] {
  const sums = new Map<string, bigint>()
  for (const { currency, balance } of lines) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balance))
  }
  return [...sums]
}
