/** Which of several pools takes an event of a repeated message. */
import type { WebhookControlClient } from '../../protos/types/causeway/internal/v1/WebhookControl.js'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { DAY } from '../../src/base/clock.js'
import type { EventId } from '../../src/base/ids.js'
import { createEventClaims, type EventClaims } from '../../actors/webhook/intake/event_claims.js'
import { TENANT } from '../bus/bus_events.js'
import { heldClock } from './builders.js'

const [ONE, TWO] = ['evt_1' as EventId, 'evt_2' as EventId]
const EVENTS = [ONE, TWO].map((id) => ({ id, tenant: TENANT }))
const NONE: ReadonlySet<EventId> = new Set()

/** Pools that reach each other at once, and a processor that can be away. */
function aGroup() {
  const clock = heldClock()
  const stored = [new Set<EventId>(), new Set<EventId>()]
  let isComplete = true
  let isCandidate = false
  let before: () => Promise<unknown> = () => Promise.resolve()
  let looked: () => Promise<unknown> = () => Promise.resolve()
  const clientOf = (own: number) =>
    ({
      Claim: (
        { event_ids }: { event_ids: EventId[] },
        _metadata: unknown,
        _options: unknown,
        done: (error: { code: status } | null, answer?: object) => void,
      ) => {
        if (isCandidate) return done({ code: status.UNIMPLEMENTED })
        void before()
          .then(() => pools[own === 1 ? 1 : 0]?.answer(own, event_ids))
          .then((held_ids) => done(null, { held_ids, complete: isComplete }))
      },
    }) as unknown as WebhookControlClient
  const pools = [1, 2].map((pool): EventClaims => {
    const here = stored[pool - 1] ?? new Set()
    return createEventClaims({
      ...{ pool, token: '', clock },
      clientOf: () => clientOf(pool),
      isAllSynced: () => true,
      store: {
        dedupWindow: async (ids) => {
          const found = new Set(ids.filter((id) => here.has(id)))
          await looked()
          return found
        },
      },
      pause: async (ms) => clock.advance(ms),
    })
  })
  /** What a pool finds held elsewhere when it stores. Undefined means that it gives up. */
  const ask = async (
    pool: 1 | 2,
    beforeStoring: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<ReadonlySet<EventId> | undefined> => {
    let found: ReadonlySet<EventId> | undefined
    await pools[pool - 1]?.ask(EVENTS, async (held) => {
      await beforeStoring()
      found = held
      for (const { id } of EVENTS) if (!held.has(id)) stored[pool - 1]?.add(id)
    })
    return found
  }
  return {
    ...{ clock, stored, ask },
    pool: (pool: 1 | 2) => pools[pool - 1]!,
    setComplete: (complete: boolean) => {
      isComplete = complete
    },
    becomeCandidate: () => {
      isCandidate = true
    },
    beforeAnswer: (work: () => Promise<unknown>) => {
      before = work
    },
    /** While a pool looks at what it has. */
    duringLook: (work: () => Promise<unknown>) => {
      looked = work
    },
  }
}

t.test('events that another pool has are left to it', async (t) => {
  const { ask, stored } = aGroup()
  stored[1]?.add(TWO)
  t.same(await ask(1), new Set([TWO]))
  t.same([...(stored[0] ?? [])], [ONE])
})

t.test('without the answers of all pools nothing is taken', async (t) => {
  const { ask, setComplete, clock } = aGroup()
  setComplete(false)
  const began = clock.now()
  t.equal(await ask(1), undefined)
  t.ok(clock.now() - began >= 3_000, 'after asking again for some time')
  setComplete(true)
  t.same(await ask(1), NONE)
})

t.test('a processor that has become a candidate answers for no pool', async (t) => {
  const { ask, becomeCandidate, stored } = aGroup()
  stored[1]?.add(TWO)
  becomeCandidate()
  t.equal(await ask(1), undefined)
  t.same([...(stored[0] ?? [])], [])
})

t.test('a pool that has left an event to another one ignores its first copy', async (t) => {
  const { ask, pool } = aGroup()
  t.notOk(pool(2).isYielded(ONE))
  await ask(1)
  t.ok(pool(2).isYielded(ONE))
  t.notOk(pool(1).isYielded(ONE))
})

t.test('a first copy that arrives while its pool answers is not stored by both', async (t) => {
  const { ask, duringLook, pool, stored } = aGroup()
  duringLook(async () => {
    if (!pool(2).isYielded(ONE)) stored[1]?.add(ONE)
  })
  t.same(await ask(1), NONE)
  t.equal(stored[0]?.has(ONE), true)
  t.equal(stored[1]?.has(ONE), false)
})

t.test('a pool does not ignore copies of what it keeps', async (t) => {
  const { ask, pool, stored } = aGroup()
  stored[1]?.add(TWO)
  await ask(1)
  t.notOk(pool(2).isYielded(TWO))
})

t.test('of two pools that ask at the same time one takes the events', async (t) => {
  const { ask, stored } = aGroup()
  const answers = await Promise.all([ask(1), ask(2)])
  t.same(answers, [NONE, new Set([ONE, TWO])])
  t.same([...(stored[0] ?? [])], [ONE, TWO])
  t.same([...(stored[1] ?? [])], [])
})

for (const [late, prompt] of [
  [2, 1],
  [1, 2],
] as const) {
  t.test(
    `pool ${late} stores late, and pool ${prompt} asks before: one takes the events`,
    async (t) => {
      const { ask, clock, stored } = aGroup()
      let found: ReadonlySet<EventId> | undefined
      await ask(late, async () => {
        clock.advance(10_000)
        found = await ask(prompt)
      })
      t.same(found, prompt === 1 ? NONE : new Set([ONE, TWO]))
      t.same([...(stored[0] ?? [])], [ONE, TWO], 'the one with the lower number')
      t.same([...(stored[1] ?? [])], [])
    },
  )
}

t.test('a pool does not ask for what it has just left to another one', async (t) => {
  const { ask, pool, clock, stored } = aGroup()
  t.same(await pool(1).answer(2, [ONE]), [], 'the second pool takes it, but has not stored it yet')
  t.equal(await ask(1), undefined)
  clock.advance(10_000)
  t.same(await ask(1), NONE, 'it never did')
  t.equal(stored[0]?.has(ONE), true)
})

t.test('a clock that moves back does not keep an event from both pools', async (t) => {
  const { ask, pool, clock } = aGroup()
  await pool(1).answer(2, [ONE])
  clock.advance(-DAY)
  t.same(await ask(1), NONE)
})

t.test('a pool whose number is higher takes what it asked for first', async (t) => {
  const { ask, beforeAnswer, pool, stored } = aGroup()
  const first = ask(2)
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(pool(1).isYielded(ONE))
  beforeAnswer(() => first)
  t.equal(await ask(1), undefined)
  t.same(await first, NONE)
  t.same([...(stored[0] ?? [])], [])
})

t.test('a question that waited too long for its turn is not asked', async (t) => {
  const { ask, beforeAnswer, clock } = aGroup()
  let questions = 0
  beforeAnswer(async () => {
    questions += 1
    clock.advance(4_000)
  })
  const answers = await Promise.all([ask(1), ask(1), ask(1)])
  t.same(answers, [NONE, undefined, undefined])
  t.equal(questions, EVENTS.length, 'those of the first: the bus delivers the others again')
})

t.test('a pool that is asked about its own question leaves nothing to itself', async (t) => {
  const { ask, beforeAnswer, pool, stored } = aGroup()
  let own: readonly EventId[] | undefined
  beforeAnswer(async () => {
    own = await pool(1).answer(1, [ONE, TWO])
  })
  t.same(await ask(1), NONE)
  t.same(own, [], 'else it would acknowledge what no pool has stored')
  t.notOk(pool(1).isYielded(ONE))
  t.same([...(stored[0] ?? [])], [ONE, TWO])
})
