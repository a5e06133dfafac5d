/**
 * A move of a partner that cannot begin is given up: no owner ends for it. Reports of a rail about
 * payments that have moved go to their shard.
 */
import t from 'tap'
import { systemPause, instant } from '../../src/base/clock.js'
import {
  createPartnerMoves,
  type PartnerMovesDependencies,
} from '../../src/processor/cluster/partner_move.js'
import type {
  PartnerMove,
  PendingMove,
  MovedReport,
  StoredReport,
} from '../../src/store/cluster/partner_moves.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { newId, type EffectId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import {
  createMovedReports,
  type MovedReportsDependencies,
} from '../../src/processor/background/moved_reports.js'
import { answer, refuse } from '../../src/processor/cycle/answer.js'
import type { Work } from '../../src/processor/cycle/command.js'
import type { RailReport } from '../../src/rails/rail.js'

const SHARD = 'books_1'
const LEAVES = { from: SHARD, to: 'books_2', isBegun: false }
const COMES = { from: 'books_2', to: SHARD, isBegun: true }

for (const [what, way] of Object.entries({ leaves: LEAVES, comes: COMES })) {
  t.test(`the server has no session left for a partner that ${what}`, async (t) => {
    let pending: PendingMove[] = [{ partner: 'demo', held: null, ...way }]
    const causes: string[] = []
    const dependencies: Partial<PartnerMovesDependencies> = {
      shard: SHARD,
      connect: () => Promise.reject(new Error('sorry, too many clients already')),
      moves: {
        pendingPartnerMoves: () => Promise.resolve(pending),
        giveUpPartnerMove: ({ partner }: PartnerMove, cause: string) => {
          pending = []
          causes.push(`${partner}: ${cause}`)
          return Promise.resolve(true)
        },
      } as unknown as PartnerMovesDependencies['moves'],
      failed: (reason, error) => t.fail(reason, { error }),
      elapsed: () => performance.now(),
      pause: (_, signal) => systemPause(5, signal),
      log: SILENT_LOG,
    }
    const moves = createPartnerMoves(dependencies as PartnerMovesDependencies)
    moves.start()
    await eventually('it is given up', () => causes.length > 0)
    await moves.stop()
    t.match(causes, [/^demo: .*sorry, too many clients already$/])
  })
}

const COUNT = 1_000
const random = systemRandom()

const aReport = (number: number): RailReport => ({
  id: newId<EffectId>('payout', instant(1_790_000_000_000 + number), random),
  reportId: `report-${number}`,
  status: 'accepted',
})

/** @param stored of the cluster, where no payment has moved unless it says so */
const movedReports = (stored: object, more: object) =>
  createMovedReports({
    shard: 'books_1',
    stored: { movedPayments: () => Promise.resolve([]), ...stored },
    memory: { partners: new Map() },
    log: SILENT_LOG,
    ...more,
  } as unknown as MovedReportsDependencies)

t.test('all reports of a message are stored by one statement', async (t) => {
  const reports = Array.from({ length: COUNT }, (_, number) => aReport(number))
  const own = aReport(COUNT)
  const statements: (readonly MovedReport[])[] = []
  const acknowledged: string[] = []
  const stored = {
    movedPayments: () =>
      Promise.resolve(reports.map(({ id }) => ({ id: String(id), partner: 'demo' }))),
    forwardReports: (all: readonly MovedReport[]) => {
      statements.push(all)
      return Promise.resolve()
    },
  }
  const rail = {
    send: (instructions: readonly { readonly reportId: string }[]) =>
      void acknowledged.push(...instructions.map(({ reportId }) => reportId)),
  }
  const moved = await movedReports(stored, { rail })
  t.same(moved.forwarded([...reports, own], 'bank', 7_000), [own], 'the others follow the partner')
  await eventually('they are acknowledged', () => acknowledged.length === COUNT)
  t.equal(statements.length, 1)
  t.equal(statements[0]?.length, COUNT)
  t.match(statements[0]?.[0], { partner: 'demo', rail: 'bank', finalityWindowMs: 7_000 })
})

t.test('the reports of a page are applied together and deleted by one statement', async (t) => {
  let stored: readonly StoredReport[] = Array.from({ length: 100 }, (_, number) => {
    const { id, status } = aReport(number)
    return {
      ...{ id: number, partner: 'demo', rail: 'bank', finalityWindowMs: 7_000 },
      report: JSON.stringify({ id, status }),
    }
  })
  const [unreadable, refused] = [3, 5]
  stored = stored.map((each) => (each.id === unreadable ? { ...each, report: '{}' } : each))
  const deleted: (readonly number[])[] = []
  const submitted: Work[] = []
  const reports = {
    reportsFor: () => Promise.resolve(deleted.length === 0 ? stored : []),
    deleteReports: (ids: readonly number[]) => {
      deleted.push(ids)
      return Promise.resolve()
    },
  }
  const pipeline = {
    submit: (work: Work) => {
      submitted.push(work)
      // A commit is for all that are submitted by now.
      setImmediate(() => {
        const isRefused = submitted.indexOf(work) === refused
        work.reply(isRefused ? refuse('configuration_error') : answer({}))
      })
    },
  }
  const memory = { partners: new Map([['demo', {}]]), recovery: null }
  const moved = await movedReports(reports, { memory, pipeline })
  moved.start()
  t.teardown(() => moved.stop())
  await eventually('all are submitted', () => submitted.length === stored.length - 1)
  await eventually('they are deleted', () => deleted.length === 1)
  // The unreadable one is not submitted, so the sixth one is of the report 6.
  const left = stored.map(({ id }) => id).filter((id) => id !== unreadable && id !== refused + 1)
  t.same(deleted, [left])
})
