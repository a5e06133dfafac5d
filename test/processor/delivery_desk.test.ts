/** The desk's promises to those who ask: an answer of all, a reason, or nothing for too long. */
import { credentials, Server, ServerCredentials, type ClientDuplexStream } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { DeskAnswer } from '../../protos/types/causeway/v1/DeskAnswer.js'
import type { DeskQuestion__Output as DeskQuestion } from '../../protos/types/causeway/v1/DeskQuestion.js'
import type { ProtoGrpcType } from '../../protos/types/delivery_desk.js'
import { DESK_QUESTIONS_MAX } from '../../src/base/bounds.js'
import type { Outcome } from '../../src/base/errors.js'
import { bearer } from '../../src/base/internal_token.js'
import { contracts } from '../../src/base/protos.js'
import { deliveryDeskService } from '../../src/processor/services/delivery_desk.js'
import { createGuard } from '../../src/processor/services/guard.js'
import { eventually } from '../support/eventually.js'

type Stream = ClientDuplexStream<DeskAnswer, DeskQuestion>
/** Undefined: silence. */
type Script = (question: DeskQuestion, stream: Stream) => DeskAnswer | undefined

async function aDesk(t: Test, answerWithinMs?: number) {
  const pools: (readonly [pool: number, newestEvent: string | null])[] = []
  const onPool = (pool: number, newest: string | null): void => void pools.push([pool, newest])
  const desk = deliveryDeskService(createGuard('it_ours'), onPool, answerWithinMs)
  const { DeliveryDesk } = contracts<ProtoGrpcType>().causeway.v1
  const server = new Server()
  server.addService(DeliveryDesk.service, desk.handlers)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, bound) =>
      fault === null ? resolve(bound) : reject(fault),
    )
  })
  t.teardown(() => server.forceShutdown())
  const attend = (script: Script, token = 'it_ours'): Stream => {
    const client = new DeliveryDesk(`127.0.0.1:${port}`, credentials.createInsecure())
    const stream = client.Attend(bearer(token))
    stream.on('data', (question: DeskQuestion) => {
      const answer = script(question, stream)
      if (answer !== undefined) stream.write({ ...answer, number: question.number })
    })
    stream.on('error', () => undefined)
    t.teardown(() => {
      stream.cancel()
      client.close()
    })
    return stream
  }
  const attended = (count: number): Promise<unknown> =>
    eventually(`${count} attend`, () => desk.attending === count)
  return { desk, attend, attended, pools }
}

const inFlight =
  (in_flight: number): Script =>
  () => ({ status: { in_flight } })
const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.code)

void t.test('a pool says which one it is, and its newest event', async (t) => {
  const { attend, pools } = await aDesk(t)
  const stream = attend(inFlight(1))
  stream.write({ number: 0, greeting: { pool: 2, newest_event: 'evt_1' } })
  stream.write({ number: 0, greeting: { pool: 2, newest_event: '' } })
  await eventually('both were heard', () => pools.length === 2)
  t.same(pools, [
    [2, 'evt_1'],
    [2, null],
  ])
})

void t.test('each pool answers, and one of them in turn', async (t) => {
  const { desk, attend, attended } = await aDesk(t)
  attend(inFlight(1))
  await attended(1)
  attend(inFlight(2))
  await attended(2)
  const all = await desk.askAll('status', {})
  t.same(all.ok && all.value.map((status) => status.in_flight).sort(), [1, 2])
  const turns = []
  for (let i = 0; i < 4; i++) {
    const one = await desk.askOne('status', {})
    turns.push(one.ok && one.value.in_flight)
  }
  t.same(turns, [1, 2, 1, 2])
})

void t.test('nobody attends: a dependency is missing', async (t) => {
  const { desk, attend } = await aDesk(t)
  t.equal(codeOf(await desk.askAll('status', {})), 'configuration_error')
  t.equal(codeOf(await desk.askOne('status', {})), 'configuration_error')
  const stranger = attend(inFlight(1), 'it_theirs')
  await new Promise((resolve) => stranger.on('status', resolve))
  t.equal(desk.attending, 0, 'without the token nobody does')
})

void t.test('one that stays silent makes it late, one that leaves makes it none', async (t) => {
  const { desk, attend, attended } = await aDesk(t, 100)
  attend(inFlight(1))
  let late: () => void = () => undefined
  const silent = attend((question, stream) => {
    late = () => stream.write({ number: question.number, status: { in_flight: 9 } })
    return undefined
  })
  await attended(2)
  t.equal(codeOf(await desk.askAll('status', {})), 'timeout')
  late()
  t.equal(codeOf(await desk.askAll('status', {})), 'timeout', 'a late answer is nobody’s')
  const asked = desk.askAll('status', {})
  silent.cancel()
  t.equal(codeOf(await asked), 'configuration_error')
  await attended(1)
  t.equal(codeOf(await desk.askAll('status', {})), 'ok')
})

void t.test('a fault is told by its code, and an answer to something else is one', async (t) => {
  const { desk, attend, attended } = await aDesk(t)
  const script: Record<string, DeskAnswer> = {
    status: { fault: 'invalid_request' },
    poison: { fault: 'no code of ours' },
    redrive: { status: {} },
  }
  attend((question) => script[question.question ?? ''])
  await attended(1)
  t.equal(codeOf(await desk.askAll('status', {})), 'invalid_request')
  t.equal(codeOf(await desk.askAll('poison', {})), 'internal_error')
  t.equal(codeOf(await desk.askAll('redrive', {})), 'internal_error')
})

void t.test('questions under way are bounded, and make room again', async (t) => {
  const { desk, attend, attended } = await aDesk(t, 300)
  attend(() => undefined)
  await attended(1)
  const asked = Array.from({ length: DESK_QUESTIONS_MAX + 1 }, () => desk.askAll('status', {}))
  t.equal(codeOf(await asked.at(-1)!), 'configuration_error')
  const codes = await Promise.all(asked.slice(0, -1))
  t.ok(codes.every((outcome) => codeOf(outcome) === 'timeout'))
  attend(inFlight(1))
  await attended(2)
  t.equal(codeOf(await desk.askOne('status', {})), 'timeout')
  t.equal(codeOf(await desk.askOne('status', {})), 'ok')
})
