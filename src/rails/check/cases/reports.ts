/** Lines about acknowledgements and links of shards. */
import type { CheckCase } from '../check_case.js'
import type { CheckLink } from '../check_link.js'
import { demand, type CheckContext, type Sent } from '../context.js'
import { ask, pay } from '../expectations.js'

const UNACKNOWLEDGED = 50
/** Reports that come although they should not come soon after the others. */
const QUIET_MS = 250

export const REPORTS: readonly CheckCase[] = [
  {
    name: 'unacknowledged_again',
    sentence: 'An unacknowledged report is sent again when a stream opens.',
    run: async (check) => {
      const sents = Array.from({ length: UNACKNOWLEDGED }, () => check.make('paid'))
      const first = check.open({ keeps: all })
      await first.send(...sents.map((sent) => ({ instruct: sent })))
      await allReported(first, sents)
      await first.close()
      const second = check.open()
      await allReported(second, sents)
      for (const { id } of sents) {
        const [one, again] = [reportIdOf(first, id), reportIdOf(second, id)]
        demand(one === again, `the repeated report of ${id} has another report id`)
      }
    },
  },
  {
    name: 'acknowledged_not_again',
    sentence: 'An acknowledged report is not sent again.',
    run: async (check) => {
      const [acknowledged, kept] = [check.make('paid'), check.make('paid')]
      const first = check.open({ keeps: (id) => id === kept.id })
      await pay(first, kept)
      await pay(first, acknowledged)
      await ask(first, acknowledged)
      await first.close()
      const { isOver } = check.deadline()
      while (await comesAgain(check, acknowledged, kept)) {
        demand(!isOver(), 'an acknowledged report is sent again')
      }
    },
  },
  {
    name: 'two_shards',
    sentence:
      'A stream with metadata `shard` (one name, or several with commas) gets only reports ' +
      'about instructions of these shards; one without it gets any.',
    run: async (check) => {
      const shards = [check.shardName('one'), check.shardName('two')] as const
      const links = shards.map((shard) => check.open({ shard }))
      const sents = shards.map((shard) => check.make('paid', { shard }))
      for (const [n, sent] of sents.entries()) {
        const executed = await pay(links[n]!, sent)
        const { shard } = executed
        demand(shard === '' || shard === sent.shard, `the report names the shard \`${shard}\``)
      }
      await check.pause(QUIET_MS)
      demand(links[0]!.about(sents[1]!.id).length === 0, 'a report went to another shard')
      demand(links[1]!.about(sents[0]!.id).length === 0, 'a report went to another shard')
    },
  },
  {
    name: 'shard_waits',
    sentence: 'The rail stores it and reports to a stream of that shard.',
    run: async (check) => {
      const [shard, other] = [check.shardName('away'), check.shardName('open')]
      const sent = check.make('late', { shard })
      const stays = check.open({ shard: other })
      const first = check.open({ shard })
      void first.send({ instruct: sent })
      await ask(first, sent)
      await first.close()
      const { isOver } = check.deadline()
      while (!(await isReportedOn(check, shard, sent))) {
        demand(!isOver(), `${sent.id} is not reported to a link of its shard`)
        await check.pause(QUIET_MS)
      }
      demand(stays.about(sent.id).length === 0, 'a report went to another shard')
    },
  },
]

const all = (): boolean => true

const allReported = (link: CheckLink, sents: readonly Sent[]): Promise<true> =>
  link.until(`${sents.length} reports`, () =>
    sents.every(({ id }) => reportIdOf(link, id) !== undefined) ? true : undefined,
  )

const reportIdOf = (link: CheckLink, id: string): string | undefined =>
  link.about(id).find(({ report_id: reportId }) => reportId !== '')?.report_id

/** Whether a new link brings the acknowledged report; the one that is not acknowledged comes. */
async function comesAgain(check: CheckContext, acknowledged: Sent, kept: Sent): Promise<boolean> {
  const link = check.open({ keeps: all })
  await link.report(kept.id, 'executed')
  await check.pause(QUIET_MS)
  await link.close()
  return link.about(acknowledged.id).length > 0
}

async function isReportedOn(check: CheckContext, shard: string, sent: Sent): Promise<boolean> {
  const link = check.open({ shard })
  await check.pause(QUIET_MS)
  const { status } = await ask(link, sent)
  if (status === 'executed') await link.report(sent.id, 'executed')
  await link.close()
  return status === 'executed'
}
