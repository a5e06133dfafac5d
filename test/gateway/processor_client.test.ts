/** The client of the processor's command stream: batching, draining, bounds, late replies. */
import t, { type Test } from 'tap'
import { Metadata, status } from '@grpc/grpc-js'
import { STREAM_BATCH_MAX_BYTES } from '../../src/base/constants.js'
import { HOUR, plus, systemClock, type Instant } from '../../src/base/clock.js'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import {
  createProcessorClient,
  type StreamClient,
} from '../../gateway/upstream/processor_client.js'
import type { PendingCommand } from '../../gateway/upstream/pending_command.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { aPayout, largestMetadata } from '../support/requests.js'
import { accept, silence, startProcessorStub, type CommandStreamCall } from './processor_stub.js'

function connectTo(t: Test, address: string, holdWithinMs?: number): StreamClient {
  const client = createProcessorClient({
    ...(holdWithinMs === undefined ? {} : { holdWithinMs }),
    address,
    metadata: new Metadata(),
    clock: systemClock,
    log,
  })
  t.teardown(() => client.close())
  return client
}

/** A stub and a client whose stream is open. */
async function connected(t: Test, script = accept, holdWithinMs?: number) {
  const processorStub = await startProcessorStub(t, { snapshot: [], script })
  const client = connectTo(t, processorStub.address, holdWithinMs)
  await client.opened
  return { processorStub, client }
}

interface Recorded extends PendingCommand {
  readonly outcomes: string[]
}

function pendingCommand(startedAt: Instant = systemClock.now()): Recorded {
  const outcomes: string[] = []
  return { startedAt, outcomes, settle: (code, body) => outcomes.push(code === '' ? body : code) }
}

/** Submits a command, and records its outcomes. */
function submitted(client: StreamClient, command: Command = {}, startedAt?: Instant): Recorded {
  const caller = pendingCommand(startedAt)
  client.submit({ get_balances: {}, ...command }, caller)
  return caller
}

t.test(
  'commands of one event-loop iteration share a message, and each caller gets its own reply',
  async (t) => {
    const { processorStub, client } = await connected(t)
    // Replies come in another order than the commands.
    const held: Parameters<typeof accept>[0][] = []
    processorStub.script = (command) => {
      held.unshift(command)
      return held.length === 300 ? held.flatMap((each) => accept(each)) : []
    }
    const callers = Array.from({ length: 300 }, (_, i) => submitted(client, { tenant: `${i}` }))
    await eventually('all commands are answered', () => client.inFlight === 0)
    callers.forEach(({ outcomes }, i) => {
      const bodies = outcomes.map((body) => JSON.parse(body) as object)
      t.match(bodies, [{ tenant: `${i}` }])
    })
    t.same(processorStub.batches, [256, 44])
    t.equal(new Set(processorStub.commands.map(({ ticket }) => ticket)).size, 300)
  },
)

t.test('large commands are split into messages that gRPC accepts', async (t) => {
  const { processorStub, client } = await connected(t)
  const callers = Array.from({ length: 70 }, () => pendingCommand())
  const create_payout = aPayout({ metadata: largestMetadata('🙂') })
  const bytes = Buffer.byteLength(JSON.stringify(create_payout))
  for (const caller of callers) client.submit({ create_payout }, caller, bytes)
  await eventually('all commands are answered', () => client.inFlight === 0)
  for (const { outcomes } of callers) t.match(outcomes, [/create_payout/])
  t.ok(Math.max(...processorStub.batches) * bytes <= STREAM_BATCH_MAX_BYTES)

  processorStub.batches.length = 0
  const half = STREAM_BATCH_MAX_BYTES / 2
  for (const size of [half, half, 1, 2 * STREAM_BATCH_MAX_BYTES, 0, 1]) {
    client.submit({ get_balances: {} }, pendingCommand(), size)
  }
  await eventually('all commands are answered', () => client.inFlight === 0)
  t.same(processorStub.batches, [2, 1, 1, 2], 'the largest command has its own message')
})

t.test('without a stream commands fail at once', async (t) => {
  const processorStub = await startProcessorStub(t, { snapshot: [], script: silence })
  const client = connectTo(t, processorStub.address)
  const early = submitted(client)
  t.same(early.outcomes, ['configuration_error'])

  await client.opened
  const sent = submitted(client)
  await eventually('the command arrived', () => processorStub.commands.length === 1)
  processorStub.crash()
  const unsent = submitted(client)
  await eventually('the stream is closed', () => !client.open)
  t.same(sent.outcomes, ['configuration_error'])
  t.same(unsent.outcomes, ['configuration_error'])
  t.equal(client.inFlight, 0)
})

t.test(
  'a draining processor answers the commands it has; later ones are held for the next stream',
  async (t) => {
    const processorStub = await startProcessorStub(t, { snapshot: [], script: silence })
    let ending: CommandStreamCall | undefined
    processorStub.ended = (stream) => (ending = stream)
    let open: CommandStreamCall | undefined
    processorStub.opened = (stream) => (open = stream)
    const client = connectTo(t, processorStub.address, HOUR)
    await client.opened
    const patient = (): Recorded => pendingCommand(plus(systemClock.now(), HOUR))
    const [sent, batched, held] = [patient(), patient(), patient()]
    client.submit({ tenant: 'sent', budget_ms: 1_000, get_balances: {} }, sent)
    await eventually('the command arrived', () => processorStub.commands.length === 1)
    processorStub.drain()
    await eventually('the gateway drains', () => {
      if (!client.open) return true
      client.submit({ tenant: 'batched', budget_ms: 1_000, get_balances: {} }, batched)
      return false
    })
    client.submit({ tenant: 'held', budget_ms: 60_000, get_balances: {} }, held)
    client.submit({ tenant: 'late', budget_ms: 0, get_balances: {} }, pendingCommand())
    await eventually(
      'all sent commands arrived',
      () => processorStub.commands.length === client.inFlight - 2,
    )
    const arrived = processorStub.commands.slice()
    t.notMatch(
      arrived.map(({ tenant }) => tenant),
      ['held'],
    )
    const [last, ...others] = arrived.reverse()
    open?.write({ replies: others.flatMap(accept) })
    await eventually('all but one are answered', () => client.inFlight === 3)
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(ending, undefined, 'an answer on its way would be lost with the connection')
    open?.write({ replies: [...accept(last!)] })
    await eventually('the gateway has ended its side', () => ending !== undefined)
    t.equal(client.inFlight, 2, 'all sent commands are answered')
    t.match(JSON.parse(sent.outcomes[0] ?? ''), { tenant: 'sent' })
    t.same(
      batched.outcomes.filter((outcome) => !outcome.includes('batched')),
      [],
    )
    t.same(held.outcomes, [])

    processorStub.script = accept
    ending?.end()
    await eventually('the held command is answered', () => held.outcomes.length === 1)
    t.match(JSON.parse(held.outcomes[0] ?? ''), { tenant: 'held' })
    const [resent, ...more] = processorStub.commands.slice(arrived.length)
    t.same(more, [], 'no expired command is sent')
    t.ok((resent?.budget_ms ?? 0) < 60_000, 'with the remaining budget')
    t.equal(client.inFlight, 0)
  },
)

t.test('held commands are not sent on a stream that no processor takes', async (t) => {
  const { processorStub, client } = await connected(t, accept, HOUR)
  const first = submitted(client)
  await eventually('the stream is open', () => first.outcomes.length === 1)
  let refusals = 0
  processorStub.opened = (stream) => {
    if (refusals > 0) return stream.sendMetadata(new Metadata())
    refusals += 1
    stream.emit('error', { code: status.UNAVAILABLE, details: 'it stops' })
  }
  processorStub.drain()
  await eventually('the gateway drains', () => !client.open)
  const held = submitted(client, { tenant: 'held', budget_ms: 60_000 })
  await eventually('the held command has an outcome', () => held.outcomes.length === 1)
  t.equal(refusals, 1)
  t.match(JSON.parse(held.outcomes[0] ?? ''), { tenant: 'held' })
})

t.test('held commands fail when no stream opens in time', async (t) => {
  const { processorStub, client } = await connected(t, accept, 50)
  processorStub.ended = (stream) => {
    stream.end()
    processorStub.stop()
  }
  const first = submitted(client)
  await eventually('the stream is open', () => first.outcomes.length === 1)
  processorStub.drain()
  await eventually('the gateway drains', () => !client.open)
  const held = submitted(client)
  await eventually('the held command has failed', () => held.outcomes.length === 1)
  t.same(held.outcomes, ['configuration_error'])
  const next = submitted(client)
  t.same(next.outcomes, ['configuration_error'], 'without waiting')
  t.equal(processorStub.commands.length, 1)
})

t.test('commands above the queue bound of the processor fail at once', async (t) => {
  const { client } = await connected(t, silence)
  const caller = pendingCommand()
  for (let i = 0; i < 20_000; i++) client.submit({ get_balances: {} }, caller)
  t.same(caller.outcomes, [])
  client.submit({ get_balances: {} }, caller)
  t.same(caller.outcomes, ['configuration_error'])
})

t.test('an unanswered command settles once, and its late reply is dropped', async (t) => {
  const { processorStub, client } = await connected(t, silence)
  const old = submitted(client, {}, (systemClock.now() - 60_000) as Instant)
  await eventually('the command has timed out', () => client.inFlight === 0)
  processorStub.script = (command) => [
    ...processorStub.commands.slice(0, 1).flatMap(accept),
    ...accept(command),
  ]
  const next = submitted(client)
  await eventually('the next command is answered', () => next.outcomes.length === 1)
  t.same(old.outcomes, ['timeout'])
})

t.test('a callback that throws does not affect its batch', async (t) => {
  const { processorStub, client } = await connected(t)
  const throwing: PendingCommand = {
    startedAt: systemClock.now(),
    settle: () => {
      throw new Error('a bug')
    },
  }
  client.submit({ get_balances: {} }, throwing)
  const other = submitted(client)
  await eventually('the other command is answered', () => other.outcomes.length === 1)
  t.same(processorStub.batches, [2])
})
