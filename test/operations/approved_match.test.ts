/** The approval of a match: other shards dismiss the execution, or the report says what is left. */
import t from 'tap'
import type { Shards } from '../../src/operations/calls/calls.js'
import type { Context, Report } from '../../src/operations/cli/command.js'
import { approvalsApprove } from '../../src/operations/operators/approvals.js'

const CLUSTER: Shards = { reached: new Map(), missing: [], isCluster: true }
const REQUEST = {
  ...{ id: 'apr_1', operation: 'resolve_orphan', subject: 'pout_lost pout_1', status: 'approved' },
  arguments: '{"instruction_id":"pout_lost","payment_id":"pout_1","evidence":"line 1"}',
}
const ORPHAN = { instruction_id: 'pout_lost', status: 'matched', matched_to: 'pout_1' }
const NOTHING_ELSE = { release: null, caller: null, key: null, rate: null, route: null }

/** @param resolve the answer of the shards to the same match again */
async function approved(
  resolve: () => Promise<object>,
  { orphan = ORPHAN, shards = CLUSTER }: { orphan?: object | null; shards?: Shards | null } = {},
): Promise<{ readonly report: Report; readonly asked: readonly object[] }> {
  const asked: object[] = []
  const done = {
    request: REQUEST,
    orphan,
    ...NOTHING_ELSE,
    route_rail: null,
    submission_pause: null,
  }
  const context = {
    flags: { reason: 'a test' },
    servesProduction: true,
    access: shards === null ? {} : { shards },
    approvals: { call: () => Promise.resolve(done) },
    recovery: {
      call: (_name: string, request: object) => {
        asked.push(request)
        return resolve()
      },
    },
  }
  const report = await approvalsApprove.run(context as unknown as Context, ['apr_1'])
  return { report, asked }
}

const matched = (): Promise<object> => Promise.resolve(ORPHAN)

t.test('the same match is made again, which has the other shards dismiss it', async (t) => {
  const { report, asked } = await approved(matched)
  t.match(asked, [
    {
      ...{ instruction_id: 'pout_lost', resolution: 'matched', payment_id: 'pout_1' },
      evidence: 'line 1',
    },
  ])
  t.match(report, { exitCode: 0, lines: [/^apr_1: approved, resolve_orphan/] })
  t.equal(report.lines.length, 1)
})

t.test('what is left to do is in the report of the approval', async (t) => {
  const silent = { ...ORPHAN, missing_shards: ['books_2'] }
  for (const [resolve, why] of [
    [() => Promise.resolve(silent), 'books_2 did not answer.'],
    [() => Promise.reject(new Error('too late')), 'too late'],
  ] as const) {
    const { report } = await approved(resolve)
    t.equal(report.exitCode, 1)
    t.same(report.lines.slice(1), [
      `NOT DISMISSED in other shards: ${why}`,
      'Repeat: recovery resolve pout_lost --match pout_1 --evidence TEXT',
    ])
  }
})

t.test('nothing is asked without other shards, or about other changes', async (t) => {
  t.same((await approved(matched, { shards: null })).asked, [])
  t.same((await approved(matched, { orphan: null })).asked, [])
})
