/** A list is cancelled when its caller disconnects or its deadline passes, over each transport. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { instant } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { answer } from '../../src/processor/cycle/answer.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import type { QueryRunner } from '../../src/processor/queries/query.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { commandStreamService } from '../../src/processor/servers/command_stream.js'
import { unaryQuery } from '../../src/processor/servers/unary_handler.js'
import { DEMO } from '../support/world.js'

/** Transports whose queries never end, and their cancellation state. */
function heldServers() {
  const scheduled: { readonly queueKey: string; readonly isAwaited: () => boolean }[] = []
  const reader: QueryRunner = {
    run: ({ queueKey }, isAwaited = () => true) => {
      scheduled.push({ queueKey, isAwaited })
      return new Promise(() => undefined)
    },
  }
  let now = instant(1_000)
  const dependencies = {
    clock: { now: () => now },
    random: systemRandom(),
    pipeline: { submit: ({ reply }: { reply: (answer: object) => void }) => reply(answer({})) },
    memory: {} as Memory,
    reader,
    pools: {} as WebhookPools,
    calls: { add: () => undefined },
  } as Parameters<typeof commandStreamService>[0] & Parameters<typeof unaryQuery>[0]
  return { scheduled, dependencies, at: (moment: number) => void (now = instant(moment)) }
}

function openStream(dependencies: Parameters<typeof commandStreamService>[0]) {
  const stream = Object.assign(new EventEmitter(), {
    metadata: new Metadata(),
    sendMetadata: () => undefined,
    write: () => true,
    end: () => undefined,
  })
  commandStreamService(dependencies).handlers.Open(stream as never)
  return {
    list: (budget_ms: number) => {
      const command = { ticket: 1, tenant: DEMO, budget_ms, operation: 'list_payouts' }
      const commands = [{ ...command, request_id: '', list_payouts: {} }]
      stream.emit('data', { commands, marks: [] })
    },
    leave: () => stream.emit('cancelled'),
  }
}

t.test("a gateway's list is cancelled after its deadline or when its stream breaks", async (t) => {
  const { scheduled, dependencies, at } = heldServers()
  const gateway = openStream(dependencies)
  gateway.list(500)
  gateway.list(5_000)
  const [short, long] = scheduled
  t.equal(short?.queueKey, DEMO)
  t.same([short?.isAwaited(), long?.isAwaited()], [true, true])
  at(1_500)
  t.equal(short?.isAwaited(), true, 'before its deadline')
  at(1_501)
  t.same([short?.isAwaited(), long?.isAwaited()], [false, true])
  gateway.leave()
  t.equal(long?.isAwaited(), false)
})

t.test('a unary list is cancelled with its call', async (t) => {
  const { scheduled, dependencies } = heldServers()
  const call = { metadata: new Metadata(), request: {}, cancelled: false }
  unaryQuery(dependencies, () => listHeldPayouts({}))(call as never, () => undefined)
  t.equal(scheduled[0]?.queueKey, 'internal')
  t.equal(scheduled[0]?.isAwaited(), true)
  call.cancelled = true
  t.equal(scheduled[0]?.isAwaited(), false)
})
