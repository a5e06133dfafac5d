/**
 * The checks of a DATA_DIR after a power cut.
 *
 * Owns: laying out an image as a DATA_DIR, reading it with the store and the audit, starting a
 * stack on it. Does not own: making images (trace), what was acknowledged (workload).
 *
 * - NATS's store is lost in every image: it is transport only.
 * - An image is cut at one instant in all files, so the audit compares them with each other.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { FILES, webhookDatabase } from '../../src/base/subjects.js'
import { audit } from '../../src/audit/audit.js'
import { openBooks } from '../../src/audit/books.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { openStore } from '../../src/store/sqlite/store.js'
import { auditOf, untilClean } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { instructionsAt } from '../support/rail_journal.js'
import { startStack } from '../support/stack.js'
import { send, SETTINGS, type Acknowledged, type Recording } from './workload.js'

export type Image = ReadonlyMap<string, Buffer>

const SECRETS = [FILES.masterKey, FILES.railKey, FILES.internalToken]
const ENDS_WITHIN_MS = 60_000

/** Runs with the image as a DATA_DIR, which is removed afterwards. */
export async function withImage<T>(
  { dataDir }: Recording,
  image: Image,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-cut-'))
  try {
    for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes, { mode: 0o600 })
    for (const name of SECRETS) copyFileSync(join(dataDir, name), join(folder, name))
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Reads an image with the real store and the audit. @returns its faults, one per line */
export async function faultsIn(
  folder: string,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  try {
    await (await openStore(join(folder, FILES.processorDatabase))).close()
    const books = await openBooks(folder, systemClock)
    const stopwatch = (): number => performance.now()
    const { broken } = await audit(books, { live: false, stopwatch, onCheck: () => undefined })
    await books.close()
    const found = broken === null ? [] : [`audit: ${broken.name}: ${broken.entity} ${broken.found}`]
    return [...found, ...(await lostIn(folder, acknowledged))]
  } catch (error) {
    return [`cannot be opened: ${String(error)}`]
  }
}

const ROW_OF: Readonly<Record<Acknowledged['kind'], string>> = {
  payout: 'SELECT id FROM payouts WHERE id = ?',
  intent: 'SELECT id FROM intents WHERE id = ?',
  confirm: "SELECT id FROM intents WHERE id = ? AND state IN ('authorized', 'captured')",
  deposit: 'SELECT entity FROM ledger_entries WHERE entity = ?',
  ended: "SELECT id FROM payouts WHERE id = ? AND state = 'completed'",
}
const KEY_OF = 'SELECT entity FROM idempotency WHERE entity = ?'
const EXECUTED = 'SELECT id FROM instructions WHERE id = ? AND executions = 1'

async function lostIn(folder: string, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const books = await openDatabase(join(folder, FILES.processorDatabase), { readOnly: true })
  const rail = await openDatabase(join(folder, FILES.railDatabase), { readOnly: true })
  const lost: string[] = []
  for (const { kind, id } of acknowledged) {
    const wanted = [
      [books, ROW_OF[kind], kind],
      ...(kind === 'payout' || kind === 'intent'
        ? [[books, KEY_OF, `${kind}'s key`] as const]
        : []),
      ...(kind === 'ended' ? [[rail, EXECUTED, 'execution'] as const] : []),
    ] as const
    for (const [database, sql, what] of wanted) {
      if ((await database.all(sql, [id])).length === 0) lost.push(`lost: the ${what} of ${id}`)
    }
  }
  await books.close()
  await rail.close()
  return lost
}

/**
 * Starts a stack on an image and repeats every recorded call, also those made after the cut.
 * @returns the faults, one per line
 */
export async function faultsOnStart(
  folder: string,
  recording: Recording,
  position: number,
): Promise<string[]> {
  const stack = await startStack({ dataDir: folder, settings: SETTINGS })
  try {
    const partner = partnerOf(stack.sandbox, recording.partner)
    const faults: string[] = []
    const payouts: string[] = []
    for (const { kind, id, call, text, position: at } of recording.acknowledged) {
      // A payment without its intent in the image would need a new session token.
      if (call === undefined || (kind === 'confirm' && at > position)) continue
      const again = await send(partner, call)
      const isSame = at > position ? again.status < 300 : again.text === text
      if (!isSame) faults.push(`the ${kind} of ${id} is answered ${again.status} ${again.text}`)
      if (kind === 'payout') payouts.push((again.body as { id: string }).id)
    }
    for (const id of payouts) {
      const state = async (): Promise<boolean> => {
        const { body } = await partner.request('GET', `/v1/payouts/${id}`)
        return (body as { status: string }).status === 'completed'
      }
      await eventually(`${id} is completed`, state, ENDS_WITHIN_MS)
    }
    faults.push(...(await executedOtherThanOnce(folder, payouts)))
    await untilClean(folder, ENDS_WITHIN_MS).catch(async () => {
      faults.push((await auditOf(folder)).report)
    })
    return faults
  } finally {
    await stack.stop()
  }
}

async function executedOtherThanOnce(folder: string, payouts: string[]): Promise<string[]> {
  const rows = await instructionsAt<{ id: string }>(
    folder,
    "SELECT id FROM instructions WHERE purpose = 'payout' AND executions = 1 ORDER BY id",
  )
  const executed = rows.map(({ id }) => id).join()
  const wanted = [...payouts].sort().join()
  return executed === wanted ? [] : [`executed: ${executed}, not ${wanted}`]
}

/** The files that a trace must have recorded. */
export const RECORDED = [
  ...[FILES.processorDatabase, FILES.railDatabase, webhookDatabase(1)].map((name) => `${name}-wal`),
  FILES.highWater,
]
