/** Lines about status inquiries of known and unknown ids. */
import type { CheckCase } from '../check_case.js'
import { demand, Skipped } from '../context.js'
import { ask, demandExecution, demandMoved, pay } from '../expectations.js'

export const INQUIRIES: readonly CheckCase[] = [
  {
    name: 'query_known',
    sentence: 'empty on answers, which need no acknowledgement',
    run: async (check) => {
      const link = check.open()
      const sent = check.make('paid')
      const { transaction_id: transaction } = await pay(link, sent)
      const answer = await ask(link, sent)
      demand(answer.status === 'executed', `an executed instruction is \`${answer.status}\``)
      demandExecution(answer, sent)
      demand(answer.transaction_id === transaction, 'the answer has another transaction id')
    },
  },
  {
    name: 'unknown_inside_window',
    sentence: 'An id that the adapter does not know is `not_found`, never `refused`',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const link = check.open()
        const { status } = await ask(link, sent)
        demand(status === 'not_found', `an unknown id is \`${status}\``)
        await pay(link, sent)
      })
    },
  },
  {
    name: 'unknown_outside_window',
    sentence: '"not_found" is final only this long after the instruction was sent',
    run: async (check) => {
      const { finalityWindowMs, patienceMs } = check
      if (finalityWindowMs > patienceMs) {
        throw new Skipped(`the finality window of ${finalityWindowMs} ms is longer than --patience`)
      }
      const sent = check.make('paid')
      const known = check.make('late')
      await demandMoved(
        check,
        [
          [sent, 'executed'],
          [known, 'executed'],
        ],
        async () => {
          const link = check.open()
          void link.send({ instruct: known })
          await check.pause(finalityWindowMs + 1)
          const unknown = await ask(link, sent)
          demand(unknown.status === 'not_found', `an unknown id is \`${unknown.status}\``)
          const { status } = await ask(link, known)
          demand(status !== 'not_found', 'an instruction that was sent is `not_found`')
          await pay(link, sent)
          await link.report(known.id, 'executed')
        },
      )
    },
  },
]
