import t, { type Test } from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { systemClock, type Instant } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import {
  createProcessorClient,
  type StreamClient,
  type Waiting,
} from '../../gateway/processor_client.js'
import { eventually } from '../support/eventually.js'
import { accept, silence, startStandIn } from './stand_in_processor.js'

const log = createLog('test', { LOG_LEVEL: 'silent' })

function connectTo(t: Test, address: string): StreamClient {
  const client = createProcessorClient({
    address,
    metadata: new Metadata(),
    clock: systemClock,
    log,
  })
  t.teardown(() => client.close())
  return client
}

interface Outcome extends Waiting {
  readonly outcomes: string[]
}

function waiting(startedAt: Instant = systemClock.now()): Outcome {
  const outcomes: string[] = []
  return { startedAt, outcomes, settle: (code, body) => outcomes.push(code === '' ? body : code) }
}

void t.test(
  'commands of one turn travel together, and every caller gets its own answer',
  async (t) => {
    const standIn = await startStandIn({ snapshot: [] })
    t.teardown(() => standIn.stop())
    // Answers come back in another order than the commands.
    const held: Parameters<typeof accept>[0][] = []
    standIn.script = (command) => {
      held.unshift(command)
      return held.length === 300 ? held.flatMap((each) => accept(each)) : []
    }
    const client = connectTo(t, standIn.address)
    await client.opened
    const callers = Array.from({ length: 300 }, () => waiting())
    callers.forEach((caller, i) =>
      client.submit({ request_id: `req_${i}`, get_balances: {} }, caller),
    )
    await eventually('all are answered', () => client.inFlight === 0)
    callers.forEach(({ outcomes }, i) => {
      t.same(outcomes, [JSON.stringify({ operation: 'get_balances', request_id: `req_${i}` })])
    })
    t.same(standIn.batches, [256, 44])
    t.equal(new Set(standIn.commands.map(({ ticket }) => ticket)).size, 300)
  },
)

void t.test('without a stream nothing waits', async (t) => {
  const standIn = await startStandIn({ snapshot: [], script: silence })
  const client = connectTo(t, standIn.address)
  const early = waiting()
  client.submit({ get_balances: {} }, early)
  t.same(early.outcomes, ['configuration_error'])

  await client.opened
  const sent = waiting()
  client.submit({ get_balances: {} }, sent)
  await eventually('it arrived', () => standIn.commands.length === 1)
  const unsent = waiting()
  standIn.crash()
  client.submit({ get_balances: {} }, unsent)
  await eventually('the stream is gone', () => !client.open)
  t.same(sent.outcomes, ['configuration_error'])
  t.same(unsent.outcomes, ['configuration_error'])
  t.equal(client.inFlight, 0)
})

void t.test('more than the processor would queue is refused at once', async (t) => {
  const standIn = await startStandIn({ snapshot: [], script: silence })
  t.teardown(() => standIn.stop())
  const client = connectTo(t, standIn.address)
  await client.opened
  const caller = waiting()
  for (let i = 0; i < 20_000; i++) client.submit({ get_balances: {} }, caller)
  t.same(caller.outcomes, [])
  client.submit({ get_balances: {} }, caller)
  t.same(caller.outcomes, ['configuration_error'])
})

void t.test(
  'a command that nobody answers is settled for good, and its late answer goes nowhere',
  async (t) => {
    const standIn = await startStandIn({ snapshot: [], script: silence })
    t.teardown(() => standIn.stop())
    const client = connectTo(t, standIn.address)
    await client.opened
    const old = waiting((systemClock.now() - 60_000) as Instant)
    client.submit({ get_balances: {} }, old)
    await eventually('it is forgotten', () => client.inFlight === 0)
    standIn.script = (command) => [
      ...standIn.commands.slice(0, 1).flatMap(accept),
      ...accept(command),
    ]
    const next = waiting()
    client.submit({ get_balances: {} }, next)
    await eventually('the next is answered', () => next.outcomes.length === 1)
    t.same(old.outcomes, ['timeout'])
  },
)

void t.test('a caller that throws harms no other one of its batch', async (t) => {
  const standIn = await startStandIn({ snapshot: [] })
  t.teardown(() => standIn.stop())
  const client = connectTo(t, standIn.address)
  await client.opened
  const clumsy: Waiting = {
    startedAt: systemClock.now(),
    settle: () => {
      throw new Error('a bug')
    },
  }
  const careful = waiting()
  client.submit({ get_balances: {} }, clumsy)
  client.submit({ get_balances: {} }, careful)
  await eventually('the other is answered', () => careful.outcomes.length === 1)
  t.same(standIn.batches, [2])
})
