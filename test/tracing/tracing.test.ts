/** `traceparent`, the choice of traced requests, spans as OTLP, and the queue to the collector. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { instant, systemClock } from '../../src/base/clock.js'
import type { Random } from '../../src/base/random.js'
import { systemRandom } from '../../src/base/random.js'
import {
  isSampled,
  newSpan,
  newTrace,
  readTraceparent,
  spanIdOf,
  traceIdOf,
  type Traceparent,
} from '../../src/base/traceparent.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { createExporter, QUEUE_MAX } from '../../src/tracing/exporter.js'
import { createSampler } from '../../src/tracing/sampler.js'
import type { Span } from '../../src/tracing/span.js'
import { openTracer, type TracingSettings } from '../../src/tracing/tracer.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { openCollector } from './collector.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const SAMPLED = `00-${TRACE}-${SPAN}-01` as Traceparent
const NOT_SAMPLED = `00-${TRACE}-${SPAN}-00` as Traceparent
const random = systemRandom()
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined }
const noLog = SILENT as unknown as Parameters<typeof openTracer>[0]['log']

t.test('a traceparent is read strictly', async (t) => {
  t.equal(readTraceparent(SAMPLED), SAMPLED)
  t.equal(readTraceparent(NOT_SAMPLED), NOT_SAMPLED)
  t.equal(readTraceparent(`00-${TRACE}-${SPAN}-03`), SAMPLED, 'only the sampled flag is kept')
  t.equal(readTraceparent(`00-${TRACE}-${SPAN}-02`), NOT_SAMPLED)
  t.equal(readTraceparent(`cc-${TRACE}-${SPAN}-01`), SAMPLED, 'a later version')
  t.equal(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-follows`), SAMPLED)
  const refused = [
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.what`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-001`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${TRACE}-${SPAN}0-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `0x-${TRACE}-${SPAN}-01`,
    ` ${SAMPLED}`,
    `${SAMPLED} `,
    `${SAMPLED}\n`,
    `${SAMPLED},${SAMPLED}`,
  ]
  for (const text of refused) t.equal(readTraceparent(text), undefined, JSON.stringify(text))
})

t.test('a span is a new id in the same trace', async (t) => {
  const first = newTrace(random)
  const second = newSpan(first, random)
  t.equal(readTraceparent(first), first)
  t.equal(readTraceparent(second), second)
  t.equal(traceIdOf(second), traceIdOf(first))
  t.not(spanIdOf(second), spanIdOf(first))
  t.ok(isSampled(second))
  t.notOk(isSampled(newSpan(NOT_SAMPLED, random)))
})

t.test('which requests are traced', async (t) => {
  const drawing = (fraction: number): Random => ({ ...random, fraction: () => fraction })
  const always = createSampler(1, random)
  t.match(always.traceOf(undefined, true), { isRoot: true })
  t.equal(always.traceOf(undefined, false), undefined, 'a later request begins none')
  t.same(always.traceOf(SAMPLED, false), { traceparent: SAMPLED, isRoot: false })
  t.match(always.traceOf('nonsense', true), { isRoot: true }, 'what is not valid counts as none')
  t.match(always.traceOf(['a', 'b'], true), { isRoot: true }, 'and so does a repeated header')
  t.same(always.traceOf(NOT_SAMPLED, true), { traceparent: NOT_SAMPLED, isRoot: false })
  t.equal(createSampler(0.1, drawing(0.1)).traceOf(undefined, true), undefined)
  t.match(createSampler(0.1, drawing(0.09)).traceOf(undefined, true), { isRoot: true })
  const never = createSampler(0, drawing(0))
  t.equal(never.traceOf(undefined, true), undefined)
  t.same(never.traceOf(SAMPLED, true), { traceparent: NOT_SAMPLED, isRoot: false })

  const tenth = createSampler(0.1, drawing(1))
  let traced = 0
  for (let i = 0; i < 10_000; i++) {
    if (isSampled(tenth.traceOf(SAMPLED, true)!.traceparent)) traced += 1
  }
  t.ok(traced >= 1_000 && traced <= 1_021, `a caller cannot have all traced: ${traced}`)
})

const aSpan = (changes: Partial<Span> = {}): Span => ({
  ...{ name: 'confirm_intent', kind: 'internal', self: SAMPLED, parent: null },
  ...{ startedAt: 1_795_000_000_000_123, endedAt: 1_795_000_000_000_456 },
  attributes: { 'causeway.state': 'authorized', 'causeway.code': undefined },
  ...changes,
})

const tracerTo = (settings: Partial<TracingSettings>, metrics = createMetrics()) =>
  openTracer({
    ...{ process: 'gateway', metrics, clock: systemClock, elapsed: () => performance.now() },
    settings: { OTLP_URL: '', OTLP_HEADERS_FILE: '', TRACE_SAMPLE: '1', ...settings },
    ...{ random, log: noLog },
  })

t.test('without OTLP_URL there is no tracer', async (t) => {
  t.equal(tracerTo({}), undefined)
})

t.test('spans reach the collector with its headers', async (t) => {
  const collector = await openCollector()
  t.teardown(() => collector.close())
  const file = join(tempFolder(t), 'headers')
  writeFileSync(file, '# of the vendor\nAuthorization: Bearer abc\nX-Scope: team one\n', {
    mode: 0o600,
  })
  const metrics = createMetrics()
  const tracer = tracerTo({ OTLP_URL: `${collector.url}/`, OTLP_HEADERS_FILE: file }, metrics)!
  const child = tracer.spanIn(SAMPLED)
  const link = newTrace(random)
  tracer.record(aSpan({ events: [{ name: 'decided', at: 1_795_000_000_000_200 }] }))
  tracer.record(aSpan({ self: child, parent: SAMPLED, kind: 'server', isFailed: true, link }))
  await tracer.stop()
  t.match(collector.headers[0], { authorization: 'Bearer abc', 'x-scope': 'team one' })
  t.match(collector.spans, [
    {
      ...{ service: 'causeway-gateway', traceId: TRACE, spanId: SPAN, parentSpanId: '', kind: 1 },
      ...{ startedAt: 1_795_000_000_000_123_000n, endedAt: 1_795_000_000_000_456_000n },
      ...{ name: 'confirm_intent', events: ['decided'], isFailed: false, links: [] },
    },
    {
      ...{ spanId: spanIdOf(child), parentSpanId: SPAN, kind: 2, isFailed: true },
      links: [{ traceId: traceIdOf(link), spanId: spanIdOf(link) }],
    },
  ])
  t.strictSame(collector.spans[0]?.attributes, { 'causeway.state': 'authorized' })
  t.match(await metrics.text(), /^causeway_trace_spans_total 2$/m)

  writeFileSync(file, 'no header', { mode: 0o600 })
  t.throws(() => tracerTo({ OTLP_URL: collector.url, OTLP_HEADERS_FILE: file }), /header 1 is not/)
})

t.test('a span that the collector does not take is dropped and counted', async (t) => {
  const collector = await openCollector(() => 503)
  t.teardown(() => collector.close())
  const metrics = createMetrics()
  const tracer = tracerTo({ OTLP_URL: collector.url }, metrics)!
  tracer.record(aSpan())
  await tracer.stop()
  t.match(await metrics.text(), /^causeway_trace_spans_dropped_total\{reason="not_taken"\} 1$/m)
})

t.test('nothing waits for a collector that does not answer', async (t) => {
  const dropped = { queue_full: 0, not_taken: 0 }
  const posted: number[] = []
  let answer: () => void = () => undefined
  const exporter = createExporter({
    post: (spans) => {
      posted.push(spans.length)
      return new Promise<void>((resolve) => (answer = resolve))
    },
    dropped: (count, reason) => (dropped[reason] += count),
    log: SILENT,
  })
  for (let i = 0; i < QUEUE_MAX + 1_000; i++) exporter.add(aSpan())
  t.same(posted, [512], 'one request is under way')
  t.equal(dropped.queue_full, 1_000 - 512, 'the rest is bounded')
  answer()
  await eventually('the next request', () => posted.length === 2)
  const began = systemClock.now()
  await exporter.stop()
  t.ok(systemClock.now() - began >= 900, 'a stop waits for a second')
  t.equal(posted.length, 2)
  t.ok(instant(began))
})
