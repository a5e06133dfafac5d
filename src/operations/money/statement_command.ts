/** `partner statement`: the monthly statement of a partner as CSV. */
import { actorOf, CHANGE } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Report } from '../cli/command.js'
import { withReachedLedgers } from './ledger_client.js'
import {
  monthIn,
  STATEMENT_HEAD,
  statementLines,
  statementOf,
  type StatementAccount,
  type StatementPeriod,
} from './partner_statement.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'
import { openOutput } from '../cli/text_output.js'

export const partnerStatement: CliCommand = {
  usage: 'partner statement PARTNER',
  about: "a month of a partner's balance transactions as CSV, with opening and closing balances",
  options: [...CHANGE, 'month', 'environment', 'out'],
  run: async (context, [partner = '']) => {
    const { flags, access, clock } = context
    if (flags.json === true && flags.out === undefined) {
      throw new CommandFault('--json needs --out FILE for the movements.')
    }
    const period = monthIn(flags.month ?? '', clock.now())
    const tenant = await tenantNamed(context, partner, flags.environment ?? 'production')
    const actor = actorOf(context, 'sandbox')
    const output = openOutput(flags.out, context.out)
    await output.write(STATEMENT_HEAD)
    let accounts: readonly StatementAccount[] = []
    let count = 0
    await withReachedLedgers(access, async (sources) => {
      for await (const part of statementOf(sources, actor, period, tenant)) {
        await output.write(statementLines(part, period))
        if (part.kind === 'movements') count += part.movements.length
        else accounts = part.accounts
      }
    })
    await output.close()
    return { ...reportOf(accounts, count, period), isAside: flags.out === undefined }
  },
}

function reportOf(
  accounts: readonly StatementAccount[],
  count: number,
  { isOpen }: StatementPeriod,
): Report {
  const head = ['account', 'opening', 'in', 'out', 'closing']
  const views = accounts.map(({ currency, account, opening, moneyIn, moneyOut, closing }) => ({
    ...{ currency, account, opening: String(opening), money_in: String(moneyIn) },
    ...{ money_out: String(moneyOut), closing: String(closing) },
  }))
  const rows = views.map(({ currency, account, opening, money_in, money_out, closing }) => [
    account,
    ...[opening, money_in, money_out, closing].map((each) => formatWireAmount(currency, each)),
  ])
  return {
    value: { movements: count, month_has_ended: !isOpen, accounts: views },
    lines: [
      table([head, ...rows], [1, 2, 3, 4]),
      `${count} movements.${isOpen ? ' The month has not ended: later ones are missing.' : ''}`,
    ],
  }
}
