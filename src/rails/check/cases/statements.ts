/** Lines about the statement and the newest instruction. */
import { ACCEPTED, createMovementTally, type MovementSum } from '../../../base/movements.js'
import { sameText } from '../../../auth/mac.js'
import type { CheckCase } from '../check_case.js'
import { demand, END_OF_TIME, Skipped, type CheckContext } from '../context.js'
import { ask, countOf, demandMoved, differenceOf, lineOf, pay } from '../expectations.js'
import type { CallOptions, Summary } from '../probe.js'

export const STATEMENTS: readonly CheckCase[] = [
  {
    name: 'newest_instruction',
    sentence: 'The instruction received last',
    run: async (check) => {
      const first = check.make('paid')
      await check.pause(2) // the ids are in the other order than the instructions
      const last = check.make('paid')
      const link = check.open()
      for (const sent of [last, first, last]) await pay(link, sent)
      await demandNewest(check, first.id, 'a repeated instruction is not newer')
    },
  },
  {
    name: 'newest_of_shard',
    sentence: 'With metadata `shard`: the last one of that shard.',
    run: async (check) => {
      const shards = [check.shardName('first'), check.shardName('second')]
      const sents = shards.map((shard) => check.make('paid', { shard }))
      for (const [n, sent] of sents.entries()) await pay(check.open({ shard: shards[n]! }), sent)
      const of = { shard: shards[0]! }
      await demandNewest(check, sents[0]!.id, 'another shard received one later', of)
    },
  },
  {
    name: 'statement',
    sentence: 'What a statement of the period has',
    run: async (check) => {
      const before = await check.summary()
      const [one, two, back] = [check.make('paid'), check.make('paid'), check.make('paid')]
      const refused = check.make('refused')
      await demandMoved(
        check,
        [
          [one, 'executed'],
          [two, 'executed'],
          [back, 'executed', 'returned'],
        ],
        async () => {
          const link = check.open()
          void link.send({ instruct: refused })
          for (const sent of [one, two, back]) await pay(link, sent)
          const { id, environment } = back
          void link.send({ recall: { id, environment, reason: 'rail-check' } })
          await link.report(id, 'returned')
          await link.report(refused.id, 'refused')
        },
      )
      const tally = createMovementTally()
      for (const sent of [one, two, back]) tally.add(lineOf(sent, 'executed'))
      tally.add(lineOf(back, 'returned'))
      demandSums(before, await check.summary(), tally.figures().sums)
    },
  },
  {
    name: 'statement_period',
    sentence: "The times of movements are those of the statement's lines.",
    run: async (check) => {
      await check.summary()
      const sent = check.make('paid')
      await pay(check.open(), sent)
      const { newest } = await check.summary()
      const at = Number(newest?.at)
      const isIt = newest?.instruction_id === sent.id && newest.movement === 'executed'
      demand(isIt, `the newest movement is of \`${newest?.instruction_id}\``)
      const [until, during, after] = await Promise.all([
        period(check, 0, at),
        period(check, at, at + 1),
        period(check, at + 1, END_OF_TIME),
      ])
      demand(countOf(during) > 0, 'a period does not include its first millisecond')
      demand(countOf(after) === 0, 'a period includes its end')
      const all = await period(check, 0, END_OF_TIME)
      const isWhole = sameText(differenceOf(all.digest, until.digest), during.digest)
      demand(isWhole, 'the movements of two periods are not those of both')
    },
  },
  {
    name: 'statement_accepted',
    sentence: 'They may still be executed, so a statement has a line of each.',
    run: async (check) => {
      const before = await check.summary()
      if (before.accepted_digest === '') throw new Skipped('the adapter does not report them')
      const sent = check.make('pending')
      const link = check.open()
      void link.send({ instruct: sent })
      const { status } = await ask(link, sent)
      demand(status === 'accepted', `it is \`${status}\``)
      const after = await check.summary()
      const tally = createMovementTally()
      tally.add(lineOf(sent, ACCEPTED))
      const grown = differenceOf(after.accepted_digest, before.accepted_digest)
      demand(sameText(grown, tally.figures().digest), 'the accepted instruction is missing')
    },
  },
]

function demandSums(before: Summary, after: Summary, grown: readonly MovementSum[]): void {
  for (const { currency, movement, count, amount } of grown) {
    const sumIn = ({ sums }: Summary) =>
      sums.find((sum) => sum.currency === currency && sum.movement === movement)
    const [first, last] = [sumIn(before), sumIn(after)]
    const counted = (last?.count ?? 0) - (first?.count ?? 0)
    const summed = BigInt(last?.amount ?? '0') - BigInt(first?.amount ?? '0')
    const seen = `${counted} ${movement} of ${summed} ${currency}`
    demand(
      counted === count && summed === amount,
      `the sums have ${seen}; it were ${count} of ${amount}`,
    )
  }
}

async function demandNewest(
  { probe }: CheckContext,
  id: string,
  why: string,
  options: CallOptions = {},
): Promise<void> {
  const answer = await probe.describe(options)
  demand(answer.kind === 'answer', 'Describe is not answered')
  const { newest_instruction: newest } = answer.message
  if (newest === '') throw new Skipped('the adapter does not name it')
  demand(newest === id, `it is \`${newest}\`: ${why}`)
}

async function period({ probe }: CheckContext, from: number, to: number): Promise<Summary> {
  const answer = await probe.summarize(from, to)
  demand(answer.kind === 'answer', 'Summarize is not answered')
  return answer.message
}
