/** The log lines of transitions and operators' actions, and the list of those actions. */
import t, { type Test } from 'tap'
import { createLog } from '../../src/base/log.js'
import { newId, type PayoutId, type RequestId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { createChangeLog } from '../../src/processor/background/change_log.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import type { Command } from '../../src/processor/cycle/command.js'
import type { Origin } from '../../src/processor/cycle/origin.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { listActions } from '../../src/processor/queries/action_list.js'
import { anIntent } from '../support/requests.js'
import { BY_TEST, createWorld, DEMO, simulatedClock, viewOf } from '../support/world.js'
import { payout, OPERATOR, read, readAll } from './scenarios.js'

type Line = Readonly<Record<string, unknown>>

async function opened(t: Test, { created = 10, fails = false } = {}) {
  const written: string[] = []
  const log = createLog('processor', { LOG_LEVEL: 'info' }, { write: (text) => written.push(text) })
  const clock = simulatedClock()
  const changeLog = createChangeLog({
    ...{ clock, log, createdPerSecond: created, othersPerSecond: 10 },
  })
  let isReady = false
  let stop: (reason: string) => void = () => undefined
  const stopped = new Promise<string>((resolve) => (stop = resolve))
  const world = await createWorld(t, {
    clock,
    store: (store) => ({
      ...store,
      commit: (rows) => (fails && isReady ? Promise.reject(new Error('disk')) : store.commit(rows)),
    }),
    onTransitions: changeLog.committed,
    onStop: (reason) => stop(reason),
  })
  if (fails) t.teardown(() => world.rebuild()) // a pipeline that has stopped never idles
  isReady = true
  written.length = 0
  const run = (command: Command, origin: Origin = BY_TEST): Promise<Answer> =>
    new Promise((reply) => {
      const work = { queueKey: DEMO, command, origin, deadline: null, signedBy: null }
      world.submit({ ...work, reply })
    })
  const lines = (): Line[] =>
    written.flatMap((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    )
  return { changeLog, run, written, lines, stopped }
}

const requestId = newId<RequestId>('request', 1_000_000_000_000 as never, systemRandom())

async function refusedPayout(run: (command: Command, origin: Origin) => Promise<Answer>) {
  const request: Origin = { cause: 'request', requestId }
  const { id } = viewOf<{ id: PayoutId }>(await run(createPayout(DEMO, payout()), request))
  const report = { id, status: 'refused', refusal: 'account_closed', reportId: 'rep_1' } as const
  await run(applyRailReport(report, 0), { cause: 'rail', requestId: null })
  return id
}

t.test('a payout has a line per transition, with the cause of each', async (t) => {
  const { run, lines, written } = await opened(t)
  const id = await refusedPayout(run)
  const common = {
    ...{ level: 'info', time: /^\d{4}-.*Z$/, process: 'processor', message: 'transition' },
    ...{ entity_id: id, tenant: 'demo_sandbox', environment: 'sandbox' },
  }
  t.match(lines(), [
    { ...common, from: null, to: 'created', cause: 'request', request_id: requestId },
    { ...common, from: 'created', to: 'processing', cause: 'request', request_id: requestId },
    { ...common, from: 'processing', to: 'failed', cause: 'rail', failure_code: 'account_closed' },
  ])
  t.notOk('request_id' in lines()[2]!)
  t.notOk('failure_code' in lines()[1]!)
  t.equal(written.length, 2, 'one write per batch')
  t.notMatch(written.join(), /0123456789|Nguyen|12500000/, 'no account, name or amount')
})

t.test("an operator's action has a line without its reason", async (t) => {
  const { run, lines } = await opened(t)
  const actor = { name: 'nid', reason: 'a reason' }
  await run(setRate(actor, 'THB', '36.1234'), { cause: 'operator', requestId })
  const [line] = lines()
  t.match(line, { message: 'operator action', operator: 'nid', action: 'set_rate' })
  t.same([line?.['subject'], line?.['request_id']], ['THB', requestId])
  t.notMatch(JSON.stringify(lines()), /a reason|36\.1234/)
})

t.test('a change without a confirmed commit is not logged', async (t) => {
  const { run, written, stopped } = await opened(t, { fails: true })
  void run(createIntent(DEMO, anIntent()))
  t.equal(await stopped, 'commit failed with an unknown outcome')
  t.same(written, [])
})

t.test('above the bound new payments are counted, and failures are still logged', async (t) => {
  const { run, changeLog, lines } = await opened(t, { created: 2 })
  for (let i = 0; i < 5; i++) await run(createIntent(DEMO, anIntent()))
  await refusedPayout(run)
  changeLog.stop()
  t.same(
    lines().map(({ message, to, kind, omitted }) => [message, to ?? kind, omitted]),
    [
      ['transition', 'created', undefined],
      ['transition', 'created', undefined],
      ['transition', 'processing', undefined],
      ['transition', 'failed', undefined],
      ['transitions not logged: rate limit of log lines reached', 'created', 4],
    ],
  )
})

interface Listed {
  readonly actor: string
  readonly action: string
  readonly subject: string
}

t.test('every filter, page by page', async (t) => {
  const world = await createWorld(t)
  const [ann, ben] = [OPERATOR, { ...OPERATOR, name: 'ben' }]
  for (const [index, actor] of [ann, ben, ann, ann, ben, ann].entries()) {
    world.clock.pass(1)
    const kind = index % 2 === 0 ? 'suspend' : 'resume'
    viewOf(await world.run(changePartner(actor, 'demo', { kind })))
  }
  const all = await readAll<Listed>(world, (page) => listActions({ limit: 4, ...page }))
  t.ok(all.length >= 6)
  const wanted = [
    ...[{ by: 'ben' }, { by: ann.name }, { subject: 'demo' }, { by: 'nobody' }],
    ...[{ action: all[0]!.action }, { by: 'ben', action: all[1]!.action, subject: 'demo' }],
  ]
  for (const filter of wanted) {
    const expected = all.filter(
      ({ actor, action, subject }) =>
        actor === (filter.by ?? actor) &&
        action === ((filter as Partial<Listed>).action ?? action) &&
        subject === ((filter as Partial<Listed>).subject ?? subject),
    )
    for (const scannedMax of [1, 2, 2_000]) {
      const listed = await readAll<Listed>(world, (page) =>
        listActions({ ...filter, limit: 2, ...page }, scannedMax),
      )
      t.same(listed, expected, `${JSON.stringify(filter)} ${scannedMax}`)
    }
  }
  const none = await read(world, listActions({ by: 'nobody' }, all.length))
  t.match(viewOf(none), { data: [], next_cursor: null }, 'no action is left to search')
  const first = viewOf<{ next_cursor: string }>(await read(world, listActions({ limit: 1 })))
  const other = await read(world, listActions({ by: 'ben', cursor: first.next_cursor }))
  t.match(other, { code: 'invalid_request' }, 'the cursor of another list')
})
