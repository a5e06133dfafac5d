/** Timers: those that wait for the rail write nothing while it is down; failures are retried. */
import t, { type Test } from 'tap'
import { DAY, HOUR, SECOND } from '../../src/base/clock.js'
import { createCorruptRows } from '../../src/base/corrupt_row.js'
import {
  createTimers,
  PUT_OFF_EVERY,
  TO_RAIL_PER_POLL,
} from '../../src/processor/background/timers.js'
import { refuse } from '../../src/processor/cycle/answer.js'
import {
  pauseSubmissions,
  resumeSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import type { DueTimer, Store } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { readableLog } from '../support/logs.js'
import { createWorld, RULES, viewOf, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  INTENT_TTL,
  waiting,
  intentAt,
} from './intent_lifecycle.js'
import { dependenciesOf, OPERATOR, pay, see, sentKinds, approve } from './scenarios.js'

const DECADES = 73 * 365 * DAY

function pollTimers(t: Test, world: World, submit = world.submit) {
  const submitted: string[] = []
  const { lines: logged, log } = readableLog('info')
  let resume: (() => void) | undefined
  const timers = createTimers({
    ...dependenciesOf(world),
    pipeline: {
      submit: (work) => {
        submitted.push(work.command.name)
        submit(work)
      },
    },
    rail: { up: world.isRailUp },
    corruptRows: createCorruptRows(),
    log,
    pause: () => new Promise((resolve) => (resume = resolve)),
  })
  const polled = async (): Promise<void> => {
    await eventually('a poll', () => resume !== undefined)
    await world.trialBalance() // commands that were submitted before are answered
  }
  t.teardown(async () => {
    const stopped = timers.stop()
    resume?.()
    await stopped
  })
  let isStarted = false
  return {
    submitted,
    logged,
    corrupt: () => timers.corruptActors,
    /** Runs whole polls, with all their commands. */
    poll: async (times = 1) => {
      for (let i = 0; i < times; i++) {
        const next = resume
        resume = undefined
        if (isStarted) next?.()
        else timers.start()
        isStarted = true
        await polled()
      }
    },
  }
}

/** Counts the commits that write rows. */
async function countedWorld(t: Test): Promise<{ world: World; commits: () => number }> {
  let commits = 0
  const counted = (store: Store): Store => ({
    ...store,
    commit: (batch) => {
      commits += 1
      return store.commit(batch)
    },
  })
  const world = await createWorld(t, { store: counted })
  return { world, commits: () => commits }
}

t.test('a payment that waits for the rail writes nothing until its return', async (t) => {
  const { world, commits } = await countedWorld(t)
  await authorized(await beginLifecycle(world))
  const refunded = await intentAt(world, captured)
  viewOf(await refunded.refund())
  await pay(world)
  world.setRail(false)
  await pay(world)
  const before = commits()
  let polled = pollTimers(t, world)
  for (const restarts of [false, true]) {
    if (restarts) {
      await world.rebuild()
      polled = pollTimers(t, world)
    }
    for (let hour = 0; hour < 3; hour++) {
      world.clock.pass(HOUR)
      await polled.poll(2)
    }
    t.equal(polled.submitted.length, 4, 'each is decided once')
  }
  t.equal(commits(), before, 'no row changes')
  world.setRail(true)
  world.railInstructions.length = 0
  await polled.poll()
  const kinds = sentKinds(world).sort()
  t.same(kinds, ['instruct', 'query', 'query', 'recall'], 'its return wakes all of them')
})

t.test('what a clock that was ahead has put off goes on once it is right', async (t) => {
  const world = await createWorld(t)
  const right = world.clock.now()
  const { id } = await pay(world)
  world.clock.set(right + DECADES)
  await pollTimers(t, world).poll(2)
  const late = await pay(world)
  const held = await pay(world, { reference: 'sandbox:review' })
  world.clock.set(right + HOUR)
  await world.rebuild()
  world.railInstructions.length = 0
  const { poll } = pollTimers(t, world)
  await poll(PUT_OFF_EVERY + 3)
  const inquired = world.railInstructions.map((each) => ('id' in each ? each.id : each.kind))
  t.same(inquired.sort(), [id, late.id].sort(), 'each is inquired about once')
  const statusOf = async (): Promise<string> => (await see(world, held.id)).status
  t.equal(await statusOf(), held.status, 'the review begins again')
  world.clock.pass(RULES.reviewTtlMs)
  await poll(2)
  t.not(await statusOf(), held.status, 'and ends')
})

t.test('while submissions are paused only what is submitted fires', async (t) => {
  const { world, commits } = await countedWorld(t)
  await pay(world)
  viewOf(await world.run(pauseSubmissions(OPERATOR, 'rail sandbox')))
  await pay(world)
  await pay(world)
  const before = commits()
  world.railInstructions.length = 0
  world.clock.pass(5 * SECOND)
  const polled = pollTimers(t, world)
  await polled.poll(6)
  t.equal(polled.submitted.length, 4, 'each is decided once, and the inquiry is sent')
  t.equal(commits(), before + 1)
  t.match(world.railInstructions, [{ kind: 'query' }])
  viewOf(await world.run(resumeSubmissions(OPERATOR, 'rail sandbox')))
  await polled.poll(2)
  t.same(sentKinds(world), ['query', 'instruct', 'instruct'])
})

t.test('while the rail is down deadlines end what the rail is not needed for', async (t) => {
  const world = await createWorld(t)
  const opened = await beginLifecycle(world)
  const held = await pay(world, { reference: 'sandbox:review' })
  const confirmed = await intentAt(world, waiting)
  world.setRail(false)
  const { poll } = pollTimers(t, world)
  world.clock.pass(RULES.railSubmitTtlMs - 1)
  await poll()
  t.equal((await confirmed.see()).status, 'authorized', 'it can still be submitted')
  world.clock.pass(1)
  await poll()
  t.match(await confirmed.see(), { status: 'failed', failure: { code: 'rail_unavailable' } })
  world.clock.pass(INTENT_TTL)
  await poll()
  t.equal((await opened.see()).status, 'expired')
  world.clock.pass(RULES.reviewTtlMs)
  await poll()
  t.match(await see(world, held.id), { status: 'failed', failure: { code: 'review_expired' } })
})

t.test('an approved payout waits for the rail', async (t) => {
  const world = await createWorld(t)
  const held = await pay(world, { reference: 'sandbox:review' })
  world.setRail(false)
  viewOf(await approve(world, held.id))
  const { submitted, poll } = pollTimers(t, world)
  world.clock.pass(RULES.reviewTtlMs)
  await poll(2)
  t.same(submitted, ['payout_timer_fire'], 'decided once')
  world.setRail(true)
  await poll()
  t.match(world.railInstructions, [{ kind: 'instruct', instruction: { id: held.id } }])
})

t.test('after an outage payments are submitted and inquired at a bounded rate', async (t) => {
  const world = await createWorld(t)
  world.setRail(false)
  const count = TO_RAIL_PER_POLL + 20
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push((await pay(world, { amount: '10000' })).id)
    world.clock.pass(1)
  }
  const sent = (): string[] =>
    world.railInstructions
      .splice(0)
      .map((sent) => (sent.kind === 'instruct' ? sent.instruction.id : sent.kind))
  const { poll } = pollTimers(t, world)
  await poll()
  const expiring = await beginLifecycle(world)
  world.clock.pass(INTENT_TTL)
  world.setRail(true)
  await poll()
  t.same(sent(), ids.slice(0, TO_RAIL_PER_POLL), 'the earliest first')
  t.equal((await expiring.see()).status, 'expired', 'not delayed by those that wait')
  await poll()
  t.same(sent(), ids.slice(TO_RAIL_PER_POLL))

  world.setRail(false)
  world.clock.pass(2 * HOUR)
  await poll()
  world.setRail(true)
  await poll()
  t.equal(sent().length, TO_RAIL_PER_POLL)
  await poll(5)
  t.equal(sent().length, count - TO_RAIL_PER_POLL, 'each inquiry once')
  world.clock.pass(5 * SECOND - 1)
  await poll(2)
  t.same(sent(), [], 'the inquiries that were missed do not follow each other at once')
  world.clock.pass(1)
  await poll(3)
  t.equal(sent().length, count)
})

t.test('a timer that fails without a corrupt row is retried, later each time', async (t) => {
  const world = await createWorld(t)
  const failing = await beginLifecycle(world)
  let faults = 3
  const { poll, submitted, logged, corrupt } = pollTimers(t, world, (work) => {
    faults -= 1
    if (faults < 0) world.submit(work)
    else work.reply(refuse('internal_error'))
  })
  world.clock.pass(INTENT_TTL)
  await poll()
  t.equal(submitted.length, 1)
  for (const delay of [SECOND, 2 * SECOND, 4 * SECOND]) {
    const tries = submitted.length
    t.match(logged.at(-1), `"entity_id":"${failing.id}","retry_in_s":${delay / SECOND}`)
    world.clock.pass(delay - 1)
    await poll()
    t.equal(submitted.length, tries, 'not before its delay')
    world.clock.pass(1)
    await poll()
    t.equal(submitted.length, tries + 1)
  }
  t.equal((await failing.see()).status, 'expired')
  t.equal(corrupt(), 0, 'it does not count as corrupt')
})

t.test('a timer is not hidden by a page of due rows before it', async (t) => {
  const world = await createWorld(t)
  const last = await beginLifecycle(world)
  const due = (id: string): DueTimer => ({ id, dueAt: world.clock.now() })
  const others = Array.from({ length: 2_500 }, (_, i) => due(`pi_${i}`))
  const all = [...others, due(last.id)]
  const store: Pick<Store, 'due'> = {
    due: (kind, _, limit, after) => {
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after.id) + 1
      return Promise.resolve(kind === 'intents' ? all.slice(from, from + limit) : [])
    },
  }
  world.clock.pass(INTENT_TTL)
  const { poll } = pollTimers(t, { ...world, store: store as Store })
  await poll(3)
  t.equal((await last.see()).status, 'expired')
})
