/** The other payments to the payee of a payment, for a decision on it. */
import { formatWireAmount } from '../cli/amounts.js'
import type { CliCommand } from '../cli/command.js'
import { table } from '../cli/terminal.js'

export const payeeShow: CliCommand = {
  usage: 'payee show PAYMENT',
  about: 'other payments of the partner to the payee of a payment, newest first',
  run: async ({ operator }, [payment_id = '']) => {
    const value = await operator.call('ShowPayee', { payment_id })
    const { payee, counts, counted, more, last } = value
    const rows = last.map(({ id, status, currency, amount, created_at: at }) => [
      ...[at, id, formatWireAmount(currency, amount), status],
    ])
    const sums = counts.map(({ status, count }) => `${count} ${status}`).join(', ')
    const older = more ? '; older payments are not counted' : ''
    return {
      value,
      lines: [
        payee === '' ? 'The payment has no payee yet, or its row is corrupt.' : payee,
        counted === 0 ? `No other payment${older}.` : `${counted} others: ${sums}${older}.`,
        ...(rows.length === 0 ? [] : [table(rows, [2])]),
      ],
    }
  },
}
