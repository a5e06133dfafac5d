/** Lines about money that comes back: recalls, and returns of the bank's own. */
import type { CheckCase } from '../check_case.js'
import type { CheckLink, Reported } from '../check_link.js'
import { demand, type Sent } from '../context.js'
import { ask, demandExecution, demandMoved, pay } from '../expectations.js'

export const RECALLS: readonly CheckCase[] = [
  {
    name: 'recall_agreed',
    sentence: 'Requests the money of an executed instruction back.',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed', 'returned']], async () => {
        const link = check.open()
        const executed = await pay(link, sent)
        requestRecall(link, sent)
        demandReturn(await link.report(sent.id, 'returned'), executed, sent)
        const before = link.about(sent.id).length
        requestRecall(link, sent)
        await link.until('an answer to the second recall', () => link.about(sent.id)[before])
      })
    },
  },
  {
    name: 'recall_refused',
    sentence:
      'A refused recall is `recall_refused`: the money stays with the recipient, ' +
      'and the outcome of the instruction is unchanged.',
    run: async (check) => {
      const sent = check.make('recall_refused')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const link = check.open()
        await pay(link, sent)
        requestRecall(link, sent)
        await link.report(sent.id, 'recall_refused')
        const { status } = await ask(link, sent)
        demand(status === 'executed', `after the refused recall it is \`${status}\``)
      })
    },
  },
  {
    name: 'recall_of_refused',
    sentence: 'Answered by `returned` when it arrives, or by `recall_refused`.',
    run: async (check) => {
      const sent = check.make('refused')
      await demandMoved(check, [], async () => {
        const link = check.open()
        void link.send({ instruct: sent })
        await link.report(sent.id, 'refused')
        requestRecall(link, sent)
        await link.report(sent.id, 'recall_refused')
      })
    },
  },
  {
    name: 'returned_by_bank',
    sentence: 'of the execution, also on `returned`',
    run: async (check) => {
      const sent = check.make('returned')
      await demandMoved(check, [[sent, 'executed', 'returned']], async () => {
        const link = check.open()
        const executed = await pay(link, sent)
        demandReturn(await link.report(sent.id, 'returned'), executed, sent)
      })
    },
  },
]

function requestRecall(link: CheckLink, { id, environment }: Sent): void {
  void link.send({ recall: { id, environment, reason: 'rail-check' } })
}

function demandReturn(returned: Reported, executed: Reported, sent: Sent): void {
  demandExecution(returned, sent)
  const isOfIt = returned.transaction_id === executed.transaction_id
  demand(isOfIt, 'the return has another transaction id than the execution')
}
