/** The line about many instructions at once. */
import type { CheckCase } from '../check_case.js'
import { demand } from '../context.js'
import { demandExecution, demandMoved } from '../expectations.js'

const INSTRUCTIONS = 1_000
const PER_MESSAGE = 250

export const BURST: readonly CheckCase[] = [
  {
    name: 'thousand_at_once',
    sentence: 'Every instruction of a burst is answered: none is dropped.',
    run: async (check) => {
      const { amount } = check.make('paid')
      const sents = Array.from({ length: INSTRUCTIONS }, (_, n) =>
        check.make('paid', { amount: String(BigInt(amount) + BigInt(n)) }),
      )
      const expected = sents.map((sent) => [sent, 'executed'] as const)
      await demandMoved(check, expected, async () => {
        const link = check.open()
        for (let n = 0; n < INSTRUCTIONS; n += PER_MESSAGE) {
          const orders = sents.slice(n, n + PER_MESSAGE).map((sent) => ({ instruct: sent }))
          void link.send(...orders)
        }
        const executionOf = (id: string) =>
          link.about(id).find(({ status }) => status === 'executed')
        await link.until(`${INSTRUCTIONS} executions`, () =>
          sents.every(({ id }) => executionOf(id) !== undefined) ? true : undefined,
        )
        const executions = sents.map((sent) => ({ sent, report: executionOf(sent.id)! }))
        for (const { sent, report } of executions) demandExecution(report, sent)
        const transactions = new Set(executions.map(({ report }) => report.transaction_id))
        demand(transactions.size === INSTRUCTIONS, 'two instructions have one transaction id')
      })
    },
  },
]
