/**
 * Historical data: months of payments in minutes, in a folder that a stack can be started on.
 *
 * - The real cycle, rail journal and pool store write every row, with a manual clock and without
 *   servers, so keys replay, cursors page and the audit is clean.
 * - Ended payments are spread over thirty days, and older than the pool's retention. Open ones are
 *   of the last minutes: unconfirmed intents, payouts held for review, payouts without an answer.
 * - The master key is that of the tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWebhookStore } from '../../../actors/webhook/store/store.js'
import { DAY, HOUR, MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'
import type { EventId } from '../../../src/base/ids.js'
import { FILES } from '../../../src/base/subjects.js'
import { createBeneficiary } from '../../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { deposit } from '../../../src/processor/commands/funds/deposit.js'
import { settleEvents } from '../../../src/processor/commands/webhook_endpoints/events_settle.js'
import { createWorld, DEMO, MASTER, viewOf, type World } from '../../support/world.js'
import type { Fixtures } from '../fixtures.js'
import { createSeedIntents, type SeedIntents } from './seed_intents.js'
import {
  BENEFICIARIES,
  createSeedPayouts,
  SPECIAL_ACCOUNTS,
  type SeedPayouts,
} from './seed_payouts.js'
import { openSeedRail } from './seed_rail.js'

export interface SeedDataOptions {
  readonly folder: string
  /** Of each kind. */
  readonly count: number
  readonly what: readonly ('intents' | 'payouts')[]
  /** How many of all are open at the end. */
  readonly open: number
  readonly now: Instant
  readonly progress: (done: number, of: number) => void
}

/** A batch of payments takes less on the manual clock. */
const BATCH_MIN_MS = 36 * MINUTE
const SPAN_MS = 30 * DAY
const ENDED_BEFORE_MS = 10 * DAY
/** The cache size of the processor in tests. */
const BATCH_MAX = 900
const OPEN_BATCH_MAX = 800
const SAMPLES_MAX = 100_000
const DEPOSIT = '1000000000000000'
const OPERATOR = { name: 'seed', reason: 'seed data for measurements' }

type Writers = Readonly<{ payouts: SeedPayouts; intents: SeedIntents }>

/** @returns objects to read, spread over the data */
export async function writeSeedData(options: SeedDataOptions): Promise<Fixtures> {
  const { folder, now } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = `${MASTER.kid}:${MASTER.bytes.toString('hex')}\n`
  writeFileSync(join(folder, FILES.masterKey), key, { mode: 0o600 })
  const world = await createWorld({ testdir: () => folder, teardown: () => undefined })
  const rail = await openSeedRail(world, join(folder, FILES.railDatabase))

  world.clock.set(now - ENDED_BEFORE_MS - SPAN_MS - HOUR)
  const beneficiaries = await createBeneficiaries(world)
  const payouts = createSeedPayouts(world, rail, beneficiaries)
  const intents = createSeedIntents(world, rail)
  await writeEnded(options, world, { payouts, intents })
  await writeOpen(options, world, { payouts, intents })

  await rail.close()
  await world.close()
  const fixtures: Fixtures = {
    intents: sampled(intents.ids),
    payouts: sampled(payouts.ids),
    beneficiaries: beneficiaries.slice(0, BENEFICIARIES),
    references: payouts.references,
  }
  writeFileSync(join(folder, 'seed.json'), `${JSON.stringify(fixtures)}\n`)
  return fixtures
}

/** Deposits money, too. */
async function createBeneficiaries(world: World): Promise<readonly string[]> {
  for (const currency of ['USD', 'VND']) {
    const request = { currency, amount: DEPOSIT, idempotencyKey: `seed ${currency}` }
    viewOf(await world.run(deposit(OPERATOR, DEMO, request)))
  }
  const ordinary = Array.from({ length: BENEFICIARIES }, (_, index) => String(100_000_000 + index))
  const commands = [...ordinary, ...SPECIAL_ACCOUNTS].map((account_number, index) =>
    createBeneficiary(DEMO, {
      ...{ type: 'bank_account', name: `Nguyen Van ${index}`, destination_country: 'VN' },
      ...{ currency: 'VND', account_number, bank_code: '970436' },
    }),
  )
  return (await world.runAll(commands)).map((answer) => viewOf<{ id: string }>(answer).id)
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
    await Promise.all([
      what.includes('payouts') ? writers.payouts.writeEnded(wanted) : undefined,
      what.includes('intents') ? writers.intents.writeEnded(wanted) : undefined,
    ])
    await world.run(settleEvents(world.events.splice(0).map(({ id }) => id)))
    done += wanted
    progress(done, ended)
  }
}

/** Half of them are intents; four of five payouts are held, the others unanswered. */
async function writeOpen(options: SeedDataOptions, world: World, writers: Writers): Promise<void> {
  const { open, now, what } = options
  const hasBoth = what.length === 2
  const intents = what.includes('intents') ? Math.ceil(open / (hasBoth ? 2 : 1)) : 0
  const payouts = open - intents
  const unanswered = Math.floor(payouts / 5)
  const batches = Math.max(1, Math.ceil(open / OPEN_BATCH_MAX))
  for (let batch = 0; batch < batches; batch += 1) {
    const share = (of: number): number =>
      Math.floor(((batch + 1) * of) / batches) - Math.floor((batch * of) / batches)
    world.clock.set(now - Math.ceil(20 * MINUTE * (1 - batch / batches)) - 30 * SECOND)
    await writers.intents.writeOpen(share(intents))
    await writers.payouts.writeHeld(share(payouts - unanswered))
    await writers.payouts.writeUnanswered(share(unanswered))
  }
  await settleWithoutEndpoints(world, join(options.folder, FILES.webhookDatabase))
}

/** As there is no endpoint, the pool settles each event as soon as it has it. */
async function settleWithoutEndpoints(world: World, file: string): Promise<void> {
  const store = await openWebhookStore(file, (fault) => {
    throw fault
  })
  while (world.events.length > 0) {
    const events = world.events.splice(0, OPEN_BATCH_MAX)
    const ids = events.map(({ id }) => id as EventId)
    const received = events.map((event, index) => {
      return { ...event, id: ids[index]!, receivedAt: event.createdAt }
    })
    await store.commit({ events: received })
    await world.run(settleEvents(ids))
    await store.commit({ reported: ids })
  }
  await store.close()
}

/** At most so many, evenly distributed. */
function sampled(ids: readonly string[]): readonly string[] {
  const count = Math.min(ids.length, SAMPLES_MAX)
  const distance = Math.max(1, ids.length / SAMPLES_MAX)
  return Array.from({ length: count }, (_, index) => ids[Math.floor(index * distance)] ?? '')
}
