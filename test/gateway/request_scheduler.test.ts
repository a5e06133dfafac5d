/** The order of held requests, alone and in a real gateway whose processor the test controls. */
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { ANSWER_WITHIN_MS } from '../../src/base/constants.js'
import { instant, MINUTE } from '../../src/base/clock.js'
import {
  createRequestScheduler,
  GROWS_AFTER,
  CAPACITY_MAX,
  CAPACITY_MIN,
} from '../../gateway/admission/request_scheduler.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { createTrafficClass, type TrafficClass } from '../../gateway/admission/traffic_class.js'
import { BURST_MAX, createLoadShedder } from '../../gateway/admission/load_shedder.js'
import { eventually } from '../support/eventually.js'
import { largestMetadata } from '../support/requests.js'
import {
  bytesOf,
  byToken,
  createBody,
  createRequest,
  OTHER_KEY_ID,
  payoutBody,
  post,
  twoPartners,
} from './signing_partner.js'
import { heldClock } from './held_clock.js'
import { openClient, type RawClient } from './open_client.js'
import { startGateway, type Running, type RunningOptions } from './running_gateway.js'
import { accept, silence } from './processor_stub.js'

const NOW = instant(1_000_000)
const REQUEST = { postpone: (goOn: () => void) => goOn } as unknown as RequestContext
const WITHOUT_CAPACITY = { postpone: () => undefined } as unknown as RequestContext

function schedulerWorld() {
  const queue = createLoadShedder({ now: () => NOW })
  const scheduler = createRequestScheduler(queue)
  const served: string[] = []
  const a = createTrafficClass('key')
  const sentBy: TrafficClass[] = []
  return {
    queue,
    scheduler,
    served,
    submit: (
      name: string,
      { trafficClass = a, request = REQUEST, isRefused = false } = {},
    ): void => {
      const serve = (): void => {
        served.push(name)
        if (isRefused) return
        scheduler.sent(trafficClass)
        sentBy.push(trafficClass)
      }
      if (scheduler.mustHold()) scheduler.hold(request, trafficClass, serve)
      else serve()
    },
    /** Answers this many commands, then lets the scheduler release more. */
    answer: async (count: number): Promise<void> => {
      for (const trafficClass of sentBy.splice(0, count)) scheduler.answered(trafficClass, NOW)
      await new Promise(setImmediate)
    },
  }
}

t.test('commands beyond the capacity are held and released in order', async (t) => {
  const { queue, served, submit, answer } = schedulerWorld()
  const names = Array.from({ length: CAPACITY_MIN + 5 }, (_, i) => `call ${i}`)
  for (const name of names) submit(name)
  t.same(served, names.slice(0, CAPACITY_MIN))
  t.equal(queue.held, 5)
  await answer(2)
  t.same(served, names.slice(0, CAPACITY_MIN + 2))
  submit('late')
  await answer(10)
  t.same(served, [...names, 'late'], 'requests keep their order')
  t.equal(queue.held, 0)
})

t.test('a request does not overtake held ones that are about to be released', async (t) => {
  const { served, submit, answer } = schedulerWorld()
  for (let i = 0; i < CAPACITY_MIN; i += 1) submit('first')
  submit('held')
  const released = answer(1)
  submit('late')
  await released
  t.same(served.slice(CAPACITY_MIN), ['held'])
  await answer(1)
  t.equal(served.at(-1), 'late')
})

t.test('traffic classes alternate', async (t) => {
  const { served, submit, answer } = schedulerWorld()
  for (let i = 0; i < CAPACITY_MIN; i += 1) submit('first')
  for (const name of ['a1', 'a2', 'a3', 'a4']) submit(name)
  const b = createTrafficClass('key')
  submit('b1', { trafficClass: b })
  submit('b2', { trafficClass: b })
  submit('c1', { trafficClass: createTrafficClass('key') })
  await answer(10)
  t.same(served.slice(CAPACITY_MIN), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

t.test('the capacity grows while requests are held and shrinks when idle', async (t) => {
  const { queue, served, submit, answer } = schedulerWorld()
  let answered = 0
  const taken = (): number => served.length - answered
  const answerOne = async (): Promise<void> => {
    answered += 1
    await answer(1)
  }
  for (let i = 0; i < CAPACITY_MIN + CAPACITY_MAX; i += 1) submit('first')
  t.equal(taken(), CAPACITY_MIN)
  while (answered < CAPACITY_MIN) await answerOne()
  t.equal(taken(), CAPACITY_MIN + CAPACITY_MIN / GROWS_AFTER, 'one more per GROWS_AFTER answers')
  while (answered < 2 * GROWS_AFTER * CAPACITY_MAX) {
    submit('next')
    await answerOne()
  }
  t.equal(taken(), CAPACITY_MAX, 'up to the maximum')
  while (taken() > 0) await answerOne()
  t.equal(queue.held, 0)
  for (let i = 0; i < CAPACITY_MIN + 1; i += 1) submit('after')
  t.equal(taken(), CAPACITY_MIN)
})

t.test('requests rejected on release do not delay the next ones', async () => {
  const { served, submit, answer } = schedulerWorld()
  for (let i = 0; i < CAPACITY_MIN; i += 1) submit('first')
  for (let i = 0; i < 10 * CAPACITY_MIN; i += 1) submit('refused', { isRefused: true })
  submit('last')
  await answer(1)
  await eventually(
    'the next ones are released without another answer',
    () => served.at(-1) === 'last',
  )
})

t.test('a request without memory for its body is served at once', async (t) => {
  const { queue, served, submit } = schedulerWorld()
  for (let i = 0; i < CAPACITY_MIN; i += 1) submit('first')
  submit('held')
  submit('large', { request: WITHOUT_CAPACITY })
  t.equal(served.at(-1), 'large')
  t.equal(queue.held, 1)
})

t.test('held requests of an overloading class are dropped', async (t) => {
  const { queue, scheduler, served, submit, answer } = schedulerWorld()
  for (let i = 0; i < CAPACITY_MIN; i += 1) submit('first')
  const classes = [createTrafficClass('key'), createTrafficClass('key')]
  for (let i = 0; i < BURST_MAX / 2; i += 1)
    for (const trafficClass of classes) submit('dropped', { trafficClass })
  const few = createTrafficClass('key')
  for (const name of ['few 1', 'few 2']) submit(name, { trafficClass: few })
  t.equal(scheduler.drop().length, BURST_MAX)
  t.equal(queue.held, 2, 'requests of a class under its share are kept')
  await answer(CAPACITY_MIN)
  t.same(served.slice(CAPACITY_MIN), ['few 1', 'few 2'])
  submit('next')
  t.equal(served.at(-1), 'next')
})

const userBody = (user: string): string => JSON.stringify({ ...createBody, partner_user_id: user })

/** A gateway whose processor is at capacity and answers nothing yet. */
async function busyGateway(t: Test, options: RunningOptions = {}) {
  const gateway = await startGateway(t, {
    script: silence,
    partners: twoPartners(),
    environment: { RATE_LIMIT_PER_ADDRESS: '100000' },
    answerWithinMs: MINUTE,
    ...options,
  })
  const send = (bytes: string): RawClient => openClient(t, gateway.port, bytes)
  const submit = (user: string, keyId?: string): RawClient =>
    send(bytesOf({ ...createRequest(), body: userBody(user), ...(keyId && { keyId }) }))
  const first = Array.from({ length: CAPACITY_MIN }, () => submit('first'))
  await eventually(
    'the processor has the commands',
    () => gateway.processorStub.commands.length === CAPACITY_MIN,
  )
  return { gateway, send, submit, first }
}

/** The kernel drops a connection beyond the listen queue, and repeats it seconds later. */
const CONNECTING_AT_ONCE = 200

/** Submits so many requests, each batch when the one before it is connected. */
async function submitMany(count: number, submit: () => RawClient): Promise<readonly RawClient[]> {
  const submitted: RawClient[] = []
  while (submitted.length < count) {
    const length = Math.min(CONNECTING_AT_ONCE, count - submitted.length)
    const batch = Array.from({ length }, submit)
    await Promise.all(batch.map(({ socket }) => once(socket, 'connect')))
    submitted.push(...batch)
  }
  return submitted
}

const holds = (gateway: Running, count: number): Promise<boolean> =>
  eventually(`${count} requests are held`, async () =>
    (await gateway.metrics()).includes(`causeway_gateway_requests_held ${count}\n`),
  )

/** Makes the processor answer its open commands and every new one. */
function wake({ processorStub, processor }: Running): void {
  const sent = processorStub.commands.flatMap(accept)
  processorStub.script = (command) => [...sent.splice(0), ...accept(command)]
  processor.submit({ get_balances: {} }, { startedAt: NOW, settle: () => undefined })
}

/** Bytes after garbage collection. */
function bodiesInMemory(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  return process.memoryUsage().arrayBuffers
}

const usersOf = ({ processorStub }: Running): (string | undefined)[] =>
  processorStub.commands
    .slice(CAPACITY_MIN)
    .flatMap(({ create_intent: intent }) =>
      intent === null || intent === undefined ? [] : [intent.partner_user_id],
    )

t.test('held requests keep their body, and keys alternate', async (t) => {
  const { gateway, submit, send } = await busyGateway(t)
  const calls: RawClient[] = []
  for (const [user, key] of [['a 1'], ['a 2'], ['b 1', OTHER_KEY_ID]] as const) {
    calls.push(submit(user, key))
    await holds(gateway, calls.length)
  }
  const inParts = bytesOf({ ...createRequest(), body: userBody('in parts') })
  const cut = send(inParts.slice(0, -40))
  cut.socket.write(inParts.slice(-40))
  calls.push(cut)
  await holds(gateway, calls.length)
  wake(gateway)
  await eventually('all requests are answered', () => calls.every(({ status }) => status() === 201))
  t.same(usersOf(gateway), ['a 1', 'b 1', 'a 2', 'in parts'])
})

t.test('a disconnected or timed-out request is not served', async (t) => {
  const answerWithinMs = 1_500
  const clock = heldClock()
  const { gateway, submit, first } = await busyGateway(t, { answerWithinMs, clock })
  const gone = submit('gone')
  await holds(gateway, 1)
  gone.socket.destroy()
  const late = submit('late')
  await holds(gateway, 2)
  clock.pass(answerWithinMs)
  await eventually('the requests have timed out', () =>
    [...first, late].every(({ status }) => status() === 504),
  )
  const next = submit('before its deadline')
  await holds(gateway, 3)
  wake(gateway)
  await eventually('the request is answered', () => next.status() === 201)
  t.same(usersOf(gateway), ['before its deadline'])
  await holds(gateway, 0)
})

t.test('the command carries the remaining time', async (t) => {
  const clock = heldClock()
  const { gateway, submit } = await busyGateway(t, { clock, answerWithinMs: ANSWER_WITHIN_MS })
  const held = submit('held')
  await holds(gateway, 1)
  clock.pass(2_000)
  wake(gateway)
  await eventually('the request is answered', () => held.status() === 201)
  t.same(gateway.processorStub.commands[0]?.budget_ms, ANSWER_WITHIN_MS)
  t.same(gateway.processorStub.commands.at(-1)?.budget_ms, ANSWER_WITHIN_MS - 2_000)
})

t.test('in overload held requests are rejected too, and their nonces stay unused', async (t) => {
  const stoppedAt = Date.now()
  let resumedAt = Infinity
  const clock = { now: () => instant(stoppedAt + Math.max(0, Date.now() - resumedAt)) }
  const { gateway, submit, first } = await busyGateway(t, { clock })
  const held = await submitMany(BURST_MAX - CAPACITY_MIN, () => submit('held'))
  await holds(gateway, held.length)
  t.ok(held.every(({ status }) => status() === 0))
  const over = submit('one request too many')
  await holds(gateway, 0)
  resumedAt = Date.now()
  await eventually('all requests are rejected', () =>
    [...held, over].every(({ status }) => status() === 503),
  )
  t.match(await gateway.metrics(), `{limit="load_shedder"} ${held.length + 1}\n`)
  wake(gateway)
  await eventually('other partners are served', () => first.every(({ status }) => status() === 201))
  t.same(usersOf(gateway), [])
})

t.test('overload by one partner does not affect another', async (t) => {
  const { gateway, submit } = await busyGateway(t, { clock: heldClock() })
  const early = submit('early', OTHER_KEY_ID)
  await holds(gateway, 1)
  await submitMany(BURST_MAX - CAPACITY_MIN - 1, () => submit('flood'))
  await holds(gateway, BURST_MAX - CAPACITY_MIN)
  submit('one request too many')
  await holds(gateway, 1)
  const late = submit('late', OTHER_KEY_ID)
  await holds(gateway, 2)
  wake(gateway)
  await eventually('both requests are answered', () =>
    [early, late].every((one) => one.status() === 201),
  )
  t.same(usersOf(gateway), ['early', 'late'])
})

t.test('requests with unknown keys are not held', async (t) => {
  const { gateway, submit, send } = await busyGateway(t)
  const unknownKeys = [
    submit('unknown key', 'nobody_sandbox_2026q4'),
    send(bytesOf({ ...createRequest(), unsigned: true })),
    send(bytesOf(byToken(createRequest(), 'Bearer x'))),
  ]
  await eventually('all requests are rejected', () =>
    unknownKeys.every(({ status }) => status() === 401),
  )
  await holds(gateway, 0)
})

t.test('the body of a disconnected client is released', async (t) => {
  const { gateway, send } = await busyGateway(t)
  const body = JSON.stringify({ reference: 'x'.repeat(500_000) })
  const before = bodiesInMemory()
  const rounds = 3
  const each = 40
  for (let round = 1; round <= rounds; round += 1) {
    const calls = Array.from({ length: each }, () => send(bytesOf(post('/v1/payouts', body))))
    await holds(gateway, round * each)
    for (const { socket } of calls) socket.destroy()
  }
  await eventually(
    'the clients have disconnected',
    () => bodiesInMemory() - before < each * body.length,
  )
})

t.test('the largest held requests are sent in messages that gRPC accepts', async (t) => {
  const { gateway, send } = await busyGateway(t)
  const body = { ...payoutBody, metadata: largestMetadata('🙂') }
  const calls = Array.from({ length: 50 }, (_, i) =>
    send(bytesOf(post('/v1/payouts', body, `key ${i}`))),
  )
  await holds(gateway, calls.length)
  wake(gateway)
  await eventually('all requests are answered', () => calls.every(({ status }) => status() !== 0))
  t.ok(calls.every(({ status }) => status() === 202))
})

t.test('held requests get 503 when the processor disconnects', async (t) => {
  const { gateway, submit } = await busyGateway(t)
  const held = Array.from({ length: 3 * CAPACITY_MIN }, () => submit('held'))
  await holds(gateway, held.length)
  gateway.processorStub.crash()
  await eventually('all requests are rejected', () => held.every(({ status }) => status() === 503))
})
