/** How long a list is awaited: as each door knows it of its own callers. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { instant } from '../../src/base/clock.js'
import { answer } from '../../src/processor/cycle/answer.js'
import type { Memory } from '../../src/processor/memory/memory.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import type { Reader } from '../../src/processor/queries/query.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { exchangeService } from '../../src/processor/services/exchange.js'
import type { Guard } from '../../src/processor/services/guard.js'
import { unaryQuery } from '../../src/processor/services/unary.js'
import { DEMO } from '../support/world.js'

/** Doors whose queries wait for ever, and what they said of being awaited. */
function heldDoors() {
  const asked: { readonly lane: string; readonly isAwaited: () => boolean }[] = []
  const reader: Reader = {
    run: ({ lane }, isAwaited = () => true) => {
      asked.push({ lane, isAwaited })
      return new Promise(() => undefined)
    },
  }
  let now = instant(1_000)
  const dependencies = {
    clock: { now: () => now },
    pipeline: { submit: ({ reply }: { reply: (told: object) => void }) => reply(answer({})) },
    memory: {} as Memory,
    reader,
    guard: { admits: () => true } as unknown as Guard,
    pools: {} as WebhookPools,
  } as Parameters<typeof exchangeService>[0] & Parameters<typeof unaryQuery>[0]
  return { asked, dependencies, at: (moment: number) => void (now = instant(moment)) }
}

function openStream(dependencies: Parameters<typeof exchangeService>[0]) {
  const stream = Object.assign(new EventEmitter(), {
    metadata: new Metadata(),
    write: () => true,
    end: () => undefined,
  })
  exchangeService(dependencies).Open(stream as never)
  return {
    list: (budget_ms: number) => {
      const command = { ticket: 1, tenant: DEMO, budget_ms, operation: 'list_payouts' }
      stream.emit('data', { commands: [{ ...command, list_payouts: {} }] })
    },
    leave: () => stream.emit('end'),
  }
}

void t.test("a gateway's list is awaited for its budget, while its stream is open", (t) => {
  const { asked, dependencies, at } = heldDoors()
  const gateway = openStream(dependencies)
  gateway.list(500)
  gateway.list(5_000)
  const [short, long] = asked
  t.equal(short?.lane, DEMO)
  t.same([short?.isAwaited(), long?.isAwaited()], [true, true])
  at(1_500)
  t.equal(short?.isAwaited(), true, 'up to its deadline')
  at(1_501)
  t.same([short?.isAwaited(), long?.isAwaited()], [false, true])
  gateway.leave()
  t.equal(long?.isAwaited(), false)
  t.end()
})

void t.test('a unary list is awaited until its call is cancelled', (t) => {
  const { asked, dependencies } = heldDoors()
  const call = { metadata: new Metadata(), request: {}, cancelled: false }
  unaryQuery(dependencies, () => listHeldPayouts({}))(call as never, () => undefined)
  t.equal(asked[0]?.lane, 'ours')
  t.equal(asked[0]?.isAwaited(), true)
  call.cancelled = true
  t.equal(asked[0]?.isAwaited(), false)
  t.end()
})
