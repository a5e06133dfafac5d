/**
 * Books of a size, and a stack on them.
 *
 * Owns: making them once, copying those that are kept, what a run wrote to them. Does not own:
 * their rows (past), the turns (scale).
 *
 * - No stack ever starts on books that are kept: a run works on a copy, so the next run finds the
 *   same rows. Books that nobody keeps are made where the run works, and go with it.
 * - A folder has its name once its books are whole; half of it is made anew.
 * - The copy is on disk before anything is measured.
 * - What a kind of read costs is told with the books in the system's memory; a system that takes
 *   pages back while they rest would have its disk measured instead.
 */
import { constants, createReadStream, existsSync } from 'node:fs'
import { cp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import type { Client, Outcome } from './client/client.js'
import type { Machine } from './measurement/machine.js'
import type { IntervalResult } from './measurement/measurement.js'
import { writeSeedData } from './seed_data/seed_data.js'
import {
  linesOf,
  untilQuiet,
  type Claims,
  type FinalAccounts,
} from './system_under_test/accounts.js'
import type { Programs, Stack } from './system_under_test/programs.js'
import { startReceiver, unregister, type Receiver } from './system_under_test/webhook_receivers.js'
import { ONE_RECEIVER } from './system_under_test/system_under_test.js'
import { NOTHING_ACKNOWLEDGED, type Acknowledged } from './scenarios/scenario.js'
import type { Fixtures } from './scenarios/fixtures.js'

export interface ScaleOptions {
  /** Where books are kept; undefined: nowhere. */
  readonly kept: string | undefined
  /** Where the run works. */
  readonly scratch: string
  /** Intents, and as many payouts. */
  readonly small: number
  readonly large: number
  /** Actors that are live at a start. */
  readonly live: number
  readonly windowMs: number
  readonly repeat: number
  readonly inFlight: number
  readonly gateways: number
  readonly machine: Machine
  readonly programs: Programs
  readonly client: Client
  readonly clock: Clock
  readonly progress: (step: string, intervalSample: IntervalResult | undefined) => void
}

export interface Books {
  readonly name: string
  readonly stack: Stack
  readonly fixtures: Fixtures
  readonly receiver: Receiver
  /** Has the system read all of the books. */
  bringIn(): Promise<void>
  /** Each window's outcome, for the accounts. */
  took(outcome: Outcome): void
  /** Waits until payments have ended and webhooks are delivered, then adds up. */
  settle(): Promise<FinalAccounts>
  close(): Promise<void>
}

const READ_AT_ONCE_BYTES = 4 * 1024 * 1024
/** The audit reads every row, which takes minutes on large books. */
const NOT_AUDITED = 'not audited: README.md says why'

export async function openBooks(
  options: ScaleOptions,
  name: string,
  count: number,
): Promise<Books> {
  const { kept, scratch, programs, client, gateways, progress } = options
  const made = await booksOf(options, kept ?? scratch, name, { count, live: 0 })
  const { fixtures } = made
  const dataDir = kept === undefined ? made.dataDir : await copyOf(options, made.dataDir, name)
  progress(`starting on the ${name} books`, undefined)
  const stack = await programs.startStack({ dataDir, settings: { GATEWAYS: String(gateways) } })
  const receiver = await startReceiver()
  client.hearFrom(receiver.ports(client.threads))
  const before = await untilQuiet(dataDir)
  const endpoints = await receiver.register(stack.sandbox, ONE_RECEIVER)
  let acknowledged: Acknowledged = NOTHING_ACKNOWLEDGED

  return {
    ...{ name, stack, fixtures, receiver },
    bringIn: () => readAll(join(dataDir, FILES.processorDatabase)),
    took: ({ acknowledged: { intents, payouts } }) => {
      acknowledged = {
        intents: acknowledged.intents + intents,
        payouts: acknowledged.payouts + payouts,
        samples: [],
      }
    },
    settle: async () => {
      const after = await untilQuiet(dataDir)
      const claims: Claims = { acknowledged, unknown: 0, endpoints, seen: await receiver.seen() }
      const lines = linesOf(before, after, claims)
      const faults = lines.filter(({ holds }) => !holds).map(({ what }) => `${what}: not so`)
      return { lines, audit: NOT_AUDITED, faults }
    },
    close: async () => {
      await unregister(stack.sandbox, endpoints)
      await receiver.stop()
      await stack.stop()
    },
  }
}

async function readAll(file: string): Promise<void> {
  for await (const _ of createReadStream(file, { highWaterMark: READ_AT_ONCE_BYTES }));
}

/** Those that are there, or new ones. */
export async function booksOf(
  { clock, progress }: ScaleOptions,
  folder: string,
  name: string,
  { count, live }: { readonly count: number; readonly live: number },
): Promise<{ readonly dataDir: string; readonly fixtures: Fixtures }> {
  const dataDir = join(folder, `${name}-${count}`)
  if (existsSync(dataDir)) {
    const fixtures = await readFile(join(dataDir, 'seed.json'), 'utf8')
    return { dataDir, fixtures: JSON.parse(fixtures) as Fixtures }
  }
  progress(`making the ${name} books`, undefined)
  const begun = `${dataDir}.begun`
  await rm(begun, { recursive: true, force: true })
  const fixtures = await writeSeedData({
    folder: begun,
    count,
    what: ['payouts', 'intents'],
    live,
    now: clock.now(),
    tell: () => undefined,
  })
  await rename(begun, dataDir)
  return { dataDir, fixtures }
}

async function copyOf(
  { scratch, progress }: ScaleOptions,
  dataDir: string,
  name: string,
): Promise<string> {
  progress(`copying the ${name} books`, undefined)
  const copy = join(scratch, `copy-${name}`)
  await cp(dataDir, copy, { recursive: true, mode: constants.COPYFILE_FICLONE })
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = await open(join(entry.parentPath, entry.name))
    await file.sync()
    await file.close()
  }
  return copy
}
