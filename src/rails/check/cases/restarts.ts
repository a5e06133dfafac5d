/** Lines about a restart of the adapter between the steps of an instruction. */
import type { CheckCase } from '../check_case.js'
import { demand, Skipped } from '../context.js'
import { ask, demandExecution, demandMoved, pay } from '../expectations.js'

export const RESTARTS: readonly CheckCase[] = [
  {
    name: 'restart_after_instruct',
    restarts: true,
    sentence:
      'What the adapter has received is on disk: it executes and reports it after a restart.',
    run: async (check) => {
      const sent = check.make('late')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const first = check.open()
        void first.send({ instruct: sent })
        const { status } = await ask(first, sent)
        demand(status === 'accepted', `before the restart it is \`${status}\``)
        await check.restart()
        demandExecution(await check.open().report(sent.id, 'executed'), sent)
      })
    },
  },
  {
    name: 'restart_after_report',
    restarts: true,
    sentence: 'An unacknowledged report also survives a restart.',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const { report_id: reportId } = await pay(check.open({ keeps: () => true }), sent)
        await check.restart()
        const again = await check.open().report(sent.id, 'executed')
        demand(again.report_id === reportId, 'the repeated report has another report id')
      })
    },
  },
  {
    name: 'restart_then_duplicate',
    restarts: true,
    sentence: 'No restart forgets an id: a repeated one is recognized for ever.',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const first = check.open()
        const { transaction_id: transaction } = await pay(first, sent)
        await ask(first, sent) // the acknowledgement came before it
        await check.restart()
        const link = check.open()
        void link.send({ instruct: sent })
        const again = await link.until('an answer to the repeated id', () => link.about(sent.id)[0])
        demand(again.transaction_id === transaction, 'it is executed again after the restart')
      })
    },
  },
  {
    name: 'restart_after_recall',
    restarts: true,
    sentence: 'A recall that was received survives a restart.',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed', 'returned']], async () => {
        const first = check.open()
        await pay(first, sent)
        const { id, environment } = sent
        void first.send({ recall: { id, environment, reason: 'rail-check' } })
        await ask(first, sent)
        await check.restart()
        const link = check.open()
        await link.until(`the return of ${id}`, () =>
          link.about(id).some(({ status }) => status === 'returned'),
        )
      })
    },
  },
  {
    name: 'restart_then_newest',
    restarts: true,
    sentence: 'durable before it is named',
    run: async (check) => {
      const sent = check.make('paid')
      await pay(check.open(), sent)
      if ((await newestOf(check)) === '') throw new Skipped('the adapter does not name it')
      await check.restart()
      const newest = await newestOf(check)
      demand(newest === sent.id, `after the restart the newest instruction is \`${newest}\``)
    },
  },
]

async function newestOf({ probe }: Parameters<CheckCase['run']>[0]): Promise<string> {
  const answer = await probe.describe()
  demand(answer.kind === 'answer', 'Describe is not answered')
  return answer.message.newest_instruction
}
