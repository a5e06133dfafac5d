/** The spans of a command and of its commit (payment_traces has them through a whole stack). */
import t from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import { getBalances } from '../../src/processor/commands/funds/balances_get.js'
import { internalWork, type Work } from '../../src/processor/cycle/command.js'
import type { Transition } from '../../src/processor/cycle/commit_batch.js'
import { createCommandTraces } from '../../src/processor/cycle/command_traces.js'
import type { Origin } from '../../src/processor/cycle/origin.js'
import type { Span } from '../../src/tracing/span.js'
import type { Tracer } from '../../src/tracing/tracer.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { DEMO } from '../support/world.js'

const traceparent = (trace: string, span: number): Traceparent =>
  `00-${trace.repeat(32)}-${String(span).padStart(16, '0')}-01` as Traceparent

function openTraces() {
  const spans: Span[] = []
  let made = 0
  const tracer = {
    now: () => 1_000,
    at: (elapsedMs: number) => elapsedMs,
    spanIn: (of: Traceparent) => traceparent(of.slice(3, 4), (made += 1)),
    record: (span: Span) => void spans.push(span),
  } as unknown as Tracer
  return { traces: createCommandTraces(tracer), spans }
}

const STORED = traceparent('a', 100)
const COMMIT = { startedAt: 2_000, endedAt: 3_000, commands: 7 }

const internal = (): Work => internalWork(getBalances(DEMO), 'timer', () => undefined)
const ofTenant = (tenant: TenantId): Work => ({ ...internal(), queueKey: tenant })

const changed = (origin: Origin): Transition =>
  ({ origin, tenant: DEMO, entity: 'pi_1', to: 'captured', failure: null }) as Transition

t.test('a command without a request has a span in the trace of its payment', async (t) => {
  const { traces, spans } = openTraces()
  const work = internal()
  const origin = traces.join(work, traces.begin(work), STORED)
  t.match(origin, { cause: 'timer', traceparent: /^00-a/, parent: /^00-a/ })
  t.equal(traces.join(work, origin, STORED), origin, 'it is in that trace')
  const open = traces.decided(work, origin, answer({}))!
  traces.committed([open], [changed(origin), changed({ ...origin })], COMMIT)
  t.match(spans, [
    {
      name: 'get_balances',
      attributes: { 'causeway.tenant': DEMO, 'causeway.entity_id': 'pi_1' },
      events: [{ name: 'decided' }, { name: 'captured' }],
      link: undefined,
    },
    { name: 'commit', parent: origin.traceparent, attributes: { 'causeway.commands': 7 } },
  ])
  t.equal(spans[0]?.events?.length, 2, 'another command has the other transition')
})

t.test('a command that changes nothing has no span of a commit', async (t) => {
  const { traces, spans } = openTraces()
  const work = ofTenant('other_sandbox' as TenantId)
  const origin = traces.join(work, traces.begin(work), STORED)
  const open = traces.decided(work, origin, answer({}))!
  traces.committed([open], [], { ...COMMIT, endedAt: COMMIT.startedAt })
  t.match(spans, [{ name: 'get_balances', attributes: { 'causeway.tenant': 'other_sandbox' } }])
  t.equal(spans.length, 1)
})
