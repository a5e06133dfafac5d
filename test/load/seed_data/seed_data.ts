/**
 * Historical data: months of payments in minutes, in a folder that a stack can be started on.
 *
 * - The real cycle, rail journal and pool store write every row, with a manual clock and without
 *   servers, so keys replay, cursors page and the audit is clean.
 * - Ended payments are spread over thirty days, and older than the pool's retention. Open ones are
 *   of the last minutes: unconfirmed intents, payouts held for review, payouts without an answer.
 * - Repeated payments are those of years: what retention leaves of them.
 * - The master key is that of the tests.
 */
import { CORRIDOR_NAMES } from '../../../src/qr/corridor.js'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWebhookStore } from '../../../actors/webhook/store/store.js'
import { DAY, HOUR, MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'
import type { EventId } from '../../../src/base/ids.js'
import { FILES } from '../../../src/base/subjects.js'
import { createRetention } from '../../../src/processor/background/retention.js'
import { deposit } from '../../../src/processor/commands/funds/deposit.js'
import { createPartner } from '../../../src/processor/commands/partners/partner_create.js'
import { settleEvents } from '../../../src/processor/commands/webhook_endpoints/events_settle.js'
import { SILENT_LOG } from '../../support/logs.js'
import { openSandboxRail } from '../../support/sandbox_rail.js'
import { createWorld, DEMO, MASTER, viewOf, type World } from '../../support/world.js'
import type { Fixtures } from '../fixtures.js'
import {
  BENEFICIARIES,
  createBeneficiaries,
  createSeedIntents,
  createSeedPayouts,
  REFERENCE_TEXTS,
  type SeedPayments,
} from './seed_payments.js'
import { repeatPayments } from './repeated_payments.js'
import { NO_REPORTS } from '../../support/webhook_store.js'

export interface SeedDataOptions {
  readonly folder: string
  /** How many of each kind. */
  readonly count: number
  readonly what: readonly ('intents' | 'payouts')[]
  /** How many of all are open at the end. */
  readonly open: number
  /** Beside the demo partner; they have a key and nothing else. Default: none. */
  readonly partners?: number
  /** How often the ended payments are in the data; none is open then. Default: once. */
  readonly times?: number
  readonly now: Instant
  readonly progress?: (done: number, of: number) => void
  /** Asks for the end of the repetitions. */
  readonly signal?: AbortSignal
}

/** A batch of payments takes less on the manual clock. */
const BATCH_MIN_MS = 36 * MINUTE
const SPAN_MS = 30 * DAY
/** Between two repetitions: more than the payments span. */
const PERIOD_MS = 31 * DAY
const ENDED_BEFORE_MS = 10 * DAY
/** The cache size of the processor in tests. */
const BATCH_MAX = 900
const PARTNERS_AT_ONCE = 500
const OPEN_BATCH_MAX = 800
const SAMPLES_MAX = 100_000
const DEPOSIT = '1000000000000000'
const OPERATOR = { name: 'seed', reason: 'seed data for measurements' }

/** The fixtures of seed data. */
export const SEED_FILE = 'seed.json'

type Writers = Readonly<Record<'intents' | 'payouts', SeedPayments>>

export interface SeedData extends Fixtures {
  /** How often the payments are in the data. */
  readonly times: number
}

/** @returns objects to read, spread over the data */
export async function writeSeedData(options: SeedDataOptions): Promise<SeedData> {
  const { folder, times = 1 } = options
  const now = plus(options.now, -(times - 1) * PERIOD_MS)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = `${MASTER.kid}:${MASTER.bytes.toString('hex')}\n`
  writeFileSync(join(folder, FILES.masterKey), key, { mode: 0o600 })
  const startedAt = now - ENDED_BEFORE_MS - SPAN_MS - HOUR
  const home = { testdir: () => folder, teardown: () => undefined }
  const world = await createWorld(home, { startedAt })
  const rail = await openSandboxRail(world, join(folder, FILES.railDatabase))

  for (const currency of ['USD', 'VND']) {
    const request = { currency, amount: DEPOSIT, idempotencyKey: `seed ${currency}` }
    viewOf(await world.run(deposit(OPERATOR, DEMO, request)))
  }
  await createPartners(world, options.partners ?? 0)
  const beneficiaries = await createBeneficiaries(world)
  const payouts = createSeedPayouts(world, rail, beneficiaries)
  const intents = createSeedIntents(world, rail)
  await writeEnded({ ...options, now }, world, { payouts, intents })
  if (times > 1) await endRetention(world)
  else await writeOpen(options, world, { payouts, intents })

  await rail.close()
  await world.close()
  const { progress = () => undefined, signal = new AbortController().signal } = options
  const repeat = { folder, times, periodMs: PERIOD_MS, progress, signal }
  const done = times > 1 ? await repeatPayments(repeat) : 1
  const fixtures: Fixtures = {
    intents: sampled(intents.ids),
    payouts: sampled(payouts.ids),
    beneficiaries: beneficiaries.slice(0, BENEFICIARIES),
    references: REFERENCE_TEXTS,
  }
  writeFileSync(join(folder, SEED_FILE), `${JSON.stringify(fixtures)}\n`)
  return { ...fixtures, times: done }
}

/** Deletes what retention deletes once it has ended for all payments. */
async function endRetention(world: World): Promise<void> {
  const retention = createRetention({
    keep: { events: 31, payoutKeys: 365, otherKeys: 31, requests: 31 },
    clock: world.clock,
    isSteady: () => true,
    lists: world.store.lists,
    memory: world.memory(),
    pipeline: { submit: (work) => world.submit(work) },
    log: SILENT_LOG,
    rowsMax: 10_000,
    pauseMs: 0,
  })
  await retention.run() // Records the age of the keys.
  world.clock.pass(366 * DAY)
  await retention.run()
}

async function createPartners(world: World, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `seed-${i + 1}`)
  while (names.length > 0) {
    const some = names.splice(0, PARTNERS_AT_ONCE)
    const made = await world.runAll(
      some.map((name) =>
        createPartner(OPERATOR, name, { corridors: CORRIDOR_NAMES, withFunds: false }),
      ),
    )
    for (const answer of made) viewOf(answer)
  }
}

async function writeEnded(options: SeedDataOptions, world: World, writers: Writers): Promise<void> {
  const { count, open, what, now, progress } = options
  const ended = Math.max(0, count - Math.ceil(open / what.length))
  const batches = Math.max(1, Math.min(Math.ceil(ended / BATCH_MAX), SPAN_MS / BATCH_MIN_MS))
  const size = Math.ceil(ended / batches)
  const startsAt = plus(now, -ENDED_BEFORE_MS - SPAN_MS)
  let done = 0
  for (let batch = 0; done < ended; batch += 1) {
    world.clock.set(startsAt + Math.floor((batch * SPAN_MS) / batches))
    const wanted = Math.min(size, ended - done)
    await Promise.all(what.map((kind) => writers[kind].writeEnded(wanted)))
    await world.run(settleEvents(world.events.splice(0).map(({ id }) => id)))
    done += wanted
    progress?.(done, ended)
  }
}

/**
 * Writes the open payments of the last twenty minutes. With both kinds half of them are intents. As
 * there is no endpoint, the pool settles each event as soon as it has it.
 */
async function writeOpen(options: SeedDataOptions, world: World, writers: Writers): Promise<void> {
  const { folder, open, now, what } = options
  const pool = await openWebhookStore(join(folder, FILES.webhookDatabase), NO_REPORTS)
  for (let done = 0; done < open; done += OPEN_BATCH_MAX) {
    world.clock.set(now - Math.ceil(20 * MINUTE * (1 - done / open)) - 30 * SECOND)
    const size = Math.min(OPEN_BATCH_MAX, open - done)
    const intents = what.includes('intents') ? Math.ceil(size / what.length) : 0
    await writers.intents.writeOpen(intents)
    await writers.payouts.writeOpen(size - intents)
    const events = world.events
      .splice(0)
      .map((event) => ({ ...event, id: event.id as EventId, receivedAt: event.createdAt }))
    const ids = events.map(({ id }) => id)
    await pool.commit({ events })
    await world.run(settleEvents(ids))
    await pool.commit({ reported: ids })
  }
  await pool.close()
}

/** At most so many, evenly distributed. */
function sampled(ids: readonly string[]): readonly string[] {
  const every = Math.ceil(ids.length / SAMPLES_MAX)
  return ids.filter((_, index) => index % every === 0)
}
