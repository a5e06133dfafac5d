/** Lines about single instructions: execution, refusal, repetition, lost and late answers. */
import { REFUSALS } from '../../rail.js'
import type { CheckCase } from '../check_case.js'
import { demand, type Sent } from '../context.js'
import { ask, demandExecution, demandMoved, pay, settle } from '../expectations.js'

const REPEATED = 'A repeated id is never executed again, also not with different content'
const LOST = 8
const DAY_MS = 86_400_000

export const INSTRUCTIONS: readonly CheckCase[] = [
  {
    name: 'executed',
    sentence: 'int64, as the rail executed it',
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const report = await pay(check.open(), sent)
        demand(report.report_id !== '', 'an execution is reported without a report id')
        const { environment } = report
        const isKept = environment === '' || environment === sent.environment
        demand(isKept, `the environment is \`${environment}\``)
      })
    },
  },
  {
    name: 'refused',
    sentence: '"account_closed" | "account_not_found" | "name_mismatch" | "destination_refused"',
    run: async (check) => {
      const sent = check.make('refused')
      await demandMoved(check, [], async () => {
        const link = check.open()
        void link.send({ instruct: sent })
        const { refusal } = await link.report(sent.id, 'refused')
        demand(
          REFUSALS.some((known) => known === refusal),
          `the refusal is \`${refusal}\``,
        )
      })
    },
  },
  {
    name: 'duplicate_same',
    sentence: REPEATED,
    run: async (check) => {
      const sent = check.make('paid')
      await demandMoved(check, [[sent, 'executed']], async () => {
        const link = check.open()
        void link.send({ instruct: sent }, { instruct: sent })
        const first = await pay(link, sent)
        const before = link.about(sent.id).length
        void link.send({ instruct: sent })
        await link.until('an answer to the repeated instruction', () =>
          link.about(sent.id).slice(before).some(isAnswer),
        )
        const transactions = link
          .about(sent.id)
          .filter(({ status }) => status === 'executed')
          .map(({ transaction_id: transaction }) => transaction)
        const isOne = transactions.every((each) => each === first.transaction_id)
        demand(isOne, `it is executed as ${[...new Set(transactions)].join(' and ')}`)
      })
    },
  },
  {
    name: 'duplicate_other',
    sentence: 'it is answered like a query, with the state of the first content',
    run: async (check) => {
      const sent = check.make('paid')
      const other = { ...sent, amount: String(BigInt(sent.amount) + 1n) }
      await demandMoved(check, [[sent, 'executed']], async () => {
        const link = check.open()
        await pay(link, sent)
        const before = link.about(sent.id).length
        void link.send({ instruct: other })
        const answer = await link.until('an answer to the repeated id', () =>
          link.about(sent.id).slice(before).find(isAnswer),
        )
        const { status } = answer
        demand(status === 'executed', `the repetition is answered with \`${status}\``)
        demandExecution(answer, sent)
      })
    },
  },
  {
    name: 'lost_answer',
    sentence:
      'A link can end between an instruction and its answer: ' +
      'the same id, asked for or sent again, is the same payment.',
    run: async (check) => {
      const sents = Array.from({ length: LOST }, () => check.make('paid'))
      await demandMoved(check, executed(sents), async () => {
        for (const [n, sent] of sents.entries()) {
          const link = check.open()
          const written = link.send({ instruct: sent })
          if (n % 2 === 0) await written
          link.cut()
        }
        const link = check.open()
        for (const [n, sent] of sents.entries()) {
          if (n % 4 > 1) void link.send({ instruct: sent })
          const end = await settle(check, link, sent)
          demand(end.status === 'executed', `${sent.id} is \`${end.status}\``)
          demandExecution(end, sent)
        }
      })
    },
  },
  {
    name: 'late_answer',
    sentence: 'the rail answers each with a report, at once or later, on any open stream',
    run: async (check) => {
      const sent = check.make('late')
      const link = check.open()
      void link.send({ instruct: sent })
      const { status } = await ask(link, sent)
      demand(status === 'accepted', `before its end it is \`${status}\``)
      demandExecution(await link.report(sent.id, 'executed'), sent)
    },
  },
  {
    name: 'not_after',
    sentence: 'epoch ms; refuse the instruction after it; 0 means no bound',
    run: async (check) => {
      const now = check.clock.now()
      const late = check.make('paid', { not_after: String(now - DAY_MS) })
      const early = check.make('paid', { not_after: String(now + DAY_MS) })
      await demandMoved(check, executed([early]), async () => {
        const link = check.open()
        void link.send({ instruct: late })
        await pay(link, early)
        const { refusal } = await link.report(late.id, 'refused')
        demand(refusal === 'expired', `the refusal is \`${refusal}\``)
      })
    },
  },
]

const executed = (sents: readonly Sent[]): (readonly [Sent, 'executed'])[] =>
  sents.map((sent) => [sent, 'executed'] as const)

const isAnswer = ({ report_id: reportId }: { readonly report_id: string }): boolean =>
  reportId === ''
