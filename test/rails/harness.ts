/**
 * Fixtures of the rail tests: an in-process rail, a client that records reports, instructions,
 * polling with a deadline.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { instant, systemClock, type Clock } from '../../src/base/clock.js'
import { newId, type EffectId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { connectRail, type ConnectedRail, type RailConnection } from '../../src/rails/client.js'
import type { RailDestination, Instruction, RailReport } from '../../src/rails/rail.js'
import { openJournal } from '../../src/rails/sandbox/journal.js'
import { startSandboxRail, type SandboxRailOptions } from '../../src/rails/sandbox/server.js'
import { withEveryRole } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'

export const TOKEN = 'it_test'
export const random = systemRandom()

/** A folder with a path short enough for a Unix socket. */
export function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rail-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(what, holds, 20_000, 5)
}

const DESTINATION: RailDestination = {
  scheme: 'bank_account',
  country: 'TH',
  bankCode: '004',
  account: '1234567890',
  accountType: '',
  reference1: '',
  reference2: '',
  name: 'SOMCHAI JAIDEE',
}

type Given = Partial<Omit<Instruction, 'destination'>> & { readonly account?: string }

export function anInstruction({ account, ...given }: Given = {}): Instruction {
  return {
    id: newId<EffectId>('payout', systemClock.now(), random),
    environment: 'sandbox',
    purpose: 'payout',
    amount: 12_345n,
    currency: 'THB',
    destination: account === undefined ? DESTINATION : { ...DESTINATION, account },
    reference: 'invoice 7',
    notAfter: null,
    hint: '',
    ...given,
  }
}

type Varied = 'address' | 'callers' | 'clock' | 'delayMs' | 'log'

/** A sandbox rail on the folder's journal. Close it before starting another one there. */
export async function aRail(
  t: Test,
  folder: string,
  given: Partial<Pick<SandboxRailOptions, Varied>> = {},
) {
  const journal = await openJournal(join(folder, 'rail.db'), random)
  const rail = await startSandboxRail({
    address: `unix:${join(folder, 'rail.sock')}`,
    callers: withEveryRole(TOKEN),
    journal,
    clock: systemClock,
    random,
    log,
    delayMs: 0,
    ...given,
    fail: (error) => {
      throw error
    },
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= rail.close().then(() => journal.close()))
  t.teardown(close)
  return { address: rail.address, journal, close }
}

/** The system clock, offset into the future. */
export const clockAhead = (milliseconds: number): Clock => ({
  now: () => instant(systemClock.now() + milliseconds),
})

export interface Listener extends ConnectedRail {
  instruct(...instructions: readonly Instruction[]): void
  /** Instructs the rail with a new instruction. */
  pay(given?: Given): Instruction
  /** All reports, in order. */
  readonly received: RailReport[]
  about(id: EffectId): RailReport[]
  statusesOf(id: EffectId): readonly RailReport['status'][]
  /** Waits for the first report of this instruction with this status. */
  waitFor<S extends RailReport['status']>(
    id: EffectId,
    status: S,
  ): Promise<Extract<RailReport, { status: S }>>
}

type ListenerOption =
  | 'admit'
  | 'acceptsLoss'
  | 'newestExecuted'
  | 'shard'
  | 'log'
  | 'describedWithinMs'
  | 'reportedWithinMs'

export function aListener(
  t: Test,
  address: string,
  token = TOKEN,
  given: Partial<Pick<RailConnection, ListenerOption>> = {},
): Listener {
  const rail = connectRail({ address, token, log, ...given })
  t.teardown(() => rail.close())
  const received: RailReport[] = []
  rail.onReport((reports) => received.push(...reports))
  const about = (id: EffectId): RailReport[] => received.filter((report) => report.id === id)
  const instruct = (...instructions: readonly Instruction[]): void =>
    rail.send(instructions.map((instruction) => ({ kind: 'instruct', instruction })))
  return {
    ...{ ...rail, received, about, instruct },
    pay: (given) => {
      const instruction = anInstruction(given)
      instruct(instruction)
      return instruction
    },
    statusesOf: (id) => about(id).map(({ status }) => status),
    waitFor: async (id, status) => {
      type Wanted = Extract<RailReport, { status: typeof status }>
      const find = (): Wanted | undefined =>
        about(id).find((report): report is Wanted => report.status === status)
      await until(`${status} of ${id}`, () => find() !== undefined)
      return find() as Wanted
    },
  }
}

/** A listener whose link is up. */
export async function aLinkedListener(
  t: Test,
  address: string,
  given: Partial<Pick<RailConnection, ListenerOption>> = {},
): Promise<Listener> {
  const listener = aListener(t, address, TOKEN, given)
  await until('the link is up', () => listener.up())
  return listener
}

/** A sandbox rail in a folder of its own, and a listener whose link is up. */
export async function aLinkedRail(t: Test, given: Parameters<typeof aRail>[2] = {}) {
  const folder = shortFolder(t)
  const served = await aRail(t, folder, given)
  return { ...served, folder, rail: await aLinkedListener(t, served.address) }
}
