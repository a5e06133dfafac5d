/**
 * A past: months of payments in minutes, for a folder that a stack can then be started on.
 *
 * Owns: which lives there are and when they were lived. Does not own: any row. They are written by
 * the processor's own cycle, the sandbox rail's own journal and the pool's own store, without doors
 * and with the clock held by hand, so whatever a life leaves behind is there, and the audit is
 * clean.
 *
 * - Ended payments are spread over thirty days, and older than the pool remembers. The live ones
 *   are of the last minutes: intents that nobody has confirmed, payouts held for review, payouts
 *   that the rail has not answered.
 * - The master key is the one of tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWebhookStore } from '../../../actors/webhook/store/store.js'
import { DAY, HOUR, MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'
import type { EventId } from '../../../src/base/ids.js'
import { FILES } from '../../../src/base/subjects.js'
import { deposit } from '../../../src/processor/commands/funds/deposit.js'
import { createBeneficiary } from '../../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { settleEvents } from '../../../src/processor/commands/webhook_endpoints/events_settle.js'
import { createWorld, DEMO, MASTER, viewOf, type World } from '../../support/world.js'
import { createSeedIntents, type SeedIntents } from './seed_intents.js'
import { createSeedPayouts, PAYEES, type SeedPayouts } from './seed_payouts.js'
import { openSeedRail } from './seed_rail.js'
import type { Fixtures } from '../scenarios/fixtures.js'

export interface SeedOptions {
  /** A new one. */
  readonly folder: string
  /** Of each kind that is wanted. */
  readonly count: number
  readonly what: readonly ('intents' | 'payouts')[]
  /** How many of all are live at the end. */
  readonly live: number
  readonly now: Instant
  readonly tell: (done: number, of: number) => void
}

/** Minutes of a round's own happenings lie between two of them. */
const ROUND_MIN_MS = 36 * MINUTE
const SPAN_MS = 30 * DAY
const ENDED_BEFORE_MS = 10 * DAY
/** What the processor of tests keeps warm. */
const ROUND_MAX = 900
const SAMPLES_MAX = 100_000
const DEPOSIT = '1000000000000000'
const SEEDER = { name: 'seed', reason: 'a past for measurements' }

/** @returns things to read, from all over the past */
export async function writeSeedData(options: SeedOptions): Promise<Fixtures> {
  const { folder, now } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = `${MASTER.kid}:${MASTER.bytes.toString('hex')}\n`
  writeFileSync(join(folder, FILES.masterKey), key, { mode: 0o600 })
  const world = await createWorld({ testdir: () => folder, teardown: () => undefined })
  const rail = await openSeedRail(world, join(folder, FILES.railDatabase))

  world.clock.set(now - ENDED_BEFORE_MS - SPAN_MS - HOUR)
  const beneficiaries = await begin(world)
  const payouts = createSeedPayouts(world, rail, beneficiaries)
  const intents = createSeedIntents(world, rail)
  await liveRounds(options, world, { payouts, intents })
  await liveNow(options, world, { payouts, intents })

  await rail.close()
  await world.close()
  const fixtures: Fixtures = {
    intents: sampled(intents.ids),
    payouts: sampled(payouts.ids),
    beneficiaries: beneficiaries.slice(0, PAYEES),
    references: payouts.references,
  }
  writeFileSync(join(folder, 'seed.json'), `${JSON.stringify(fixtures)}\n`)
  return fixtures
}

/** Money, and whom to pay. */
async function begin(world: World): Promise<readonly string[]> {
  for (const currency of ['USD', 'VND']) {
    const request = { currency, amount: DEPOSIT, idempotencyKey: `seed ${currency}` }
    viewOf(await world.run(deposit(SEEDER, DEMO, request)))
  }
  const accounts = [
    ...Array.from({ length: PAYEES }, (_, index) => String(100_000_000 + index)),
    ...['9990000001', '9990000002', '9990000003', '9990000008'],
  ]
  const commands = accounts.map((account, index) =>
    createBeneficiary(DEMO, {
      type: 'bank_account',
      name: `Nguyen Van ${index}`,
      destination_country: 'VN',
      currency: 'VND',
      account_number: account,
      bank_code: '970436',
    }),
  )
  return (await world.runAll(commands)).map((answer) => viewOf<{ id: string }>(answer).id)
}

interface SeedStates {
  readonly payouts: SeedPayouts
  readonly intents: SeedIntents
}

async function liveRounds(options: SeedOptions, world: World, lives: SeedStates): Promise<void> {
  const ended = Math.max(0, options.count - Math.ceil(options.live / options.what.length))
  const rounds = Math.max(1, Math.min(Math.ceil(ended / ROUND_MAX), SPAN_MS / ROUND_MIN_MS))
  const size = Math.ceil(ended / rounds)
  const startsAt = plus(options.now, -ENDED_BEFORE_MS - SPAN_MS)
  let done = 0
  for (let round = 0; done < ended; round += 1) {
    world.clock.set(startsAt + Math.floor((round * SPAN_MS) / rounds))
    const wanted = Math.min(size, ended - done)
    await Promise.all([
      options.what.includes('payouts') ? lives.payouts.live(wanted) : undefined,
      options.what.includes('intents') ? lives.intents.live(wanted) : undefined,
    ])
    const ids = world.events.splice(0).map(({ id }) => id)
    await world.run(settleEvents(ids))
    done += wanted
    options.tell(done, ended)
  }
}

const LIVE_BATCH = 800

/** Half of them wait for a confirmation; of the payouts most for a reviewer, some for the rail. */
async function liveNow(options: SeedOptions, world: World, lives: SeedStates): Promise<void> {
  const { live, now, what } = options
  const hasBoth = what.length === 2
  const intents = what.includes('intents') ? Math.ceil(live / (hasBoth ? 2 : 1)) : 0
  const payouts = live - intents
  const stuck = Math.floor(payouts / 5)
  const batches = Math.max(1, Math.ceil(live / LIVE_BATCH))
  for (let batch = 0; batch < batches; batch += 1) {
    const share = (of: number): number =>
      Math.floor(((batch + 1) * of) / batches) - Math.floor((batch * of) / batches)
    world.clock.set(now - Math.ceil(20 * MINUTE * (1 - batch / batches)) - 30 * SECOND)
    await lives.intents.leaveOpen(share(intents))
    await lives.payouts.leaveHeld(share(payouts - stuck))
    await lives.payouts.leaveStuck(share(stuck))
  }
  await deliverToNobody(world, join(options.folder, FILES.webhookDatabase))
}

/** There is no endpoint, so the pool settles each event as soon as it has it. */
async function deliverToNobody(world: World, file: string): Promise<void> {
  const store = await openWebhookStore(file, (fault) => {
    throw fault
  })
  while (world.events.length > 0) {
    const events = world.events.splice(0, LIVE_BATCH)
    const ids = events.map(({ id }) => id as EventId)
    const received = events.map((event) => ({
      ...event,
      id: event.id as EventId,
      receivedAt: event.createdAt,
    }))
    await store.commit({ events: received })
    await world.run(settleEvents(ids))
    await store.commit({ reported: ids })
  }
  await store.close()
}

/** At most so many, from all over. */
function sampled(ids: readonly string[]): readonly string[] {
  const distance = Math.max(1, ids.length / SAMPLES_MAX)
  const count = Math.min(ids.length, SAMPLES_MAX)
  return Array.from({ length: count }, (_, index) => ids[Math.floor(index * distance)] ?? '')
}
