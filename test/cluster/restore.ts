/**
 * Restores the trial cluster from a backup, as the operators' guide says: every server goes back to
 * one moment, each shard is released with the statement of the rail.
 *
 * - The clients are held back from the backup to the release, so nothing acknowledged is lost.
 *   After the backup a shard gets a new owner: its epoch goes back, and the marks of gateways,
 *   machines and the bus are those of the lost time.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemPause } from '../../src/base/clock.js'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { startProgram } from '../support/program.js'
import { writeStatement } from '../support/rail_journal.js'
import { DEFAULT_STORE, storedRows } from '../support/stored_rows.js'
import type { ClusterUnderTest } from '../support/trial_cluster.js'
import type { Gate } from './gate.js'

export interface RestoreOptions {
  readonly cluster: ClusterUnderTest
  readonly dataDir: string
  readonly shards: readonly string[]
  readonly gate: Gate
  /** What happens after the backup. */
  readonly lose: () => Promise<unknown>
}

const QUIET_MS = 5_000
const LOOK_EVERY_MS = 500
const QUIET_WITHIN_MS = 60_000
const RELEASED_WITHIN_MS = 120_000
/** In an hour intents expire all the time, also after the restore. */
const STATES = `SELECT state, count(*) AS count FROM (
    SELECT 'intent ' || state AS state FROM intents WHERE state NOT IN ('created', 'expired')
    UNION ALL SELECT state FROM payouts) AS all_of
  GROUP BY state ORDER BY state`

/** @returns false when the payments do not end in time */
export async function restoreCluster({
  cluster,
  dataDir,
  shards,
  gate,
  lose,
}: RestoreOptions): Promise<boolean> {
  await gate.close()
  const { postgres } = cluster.trial
  if (!(await isQuiet(dataDir, postgres.url))) {
    gate.open()
    return false
  }
  const backups = mkdtempSync(join(tmpdir(), 'causeway-backup-'))
  try {
    const server = { STORE: 'postgres', STORE_URL: postgres.url, DATA_DIR: dataDir }
    const made = await ended('operations/main.js', ['backup', backups, '--json'], server)
    const { folder } = JSON.parse(made) as { readonly folder: string }
    await lose()
    const primary = postgres.primary()
    await cluster.stop()
    const primaryFolder = join(dataDir, 'cluster', 'postgres', primary)
    rmSync(primaryFolder, { recursive: true })
    mkdirSync(primaryFolder, { mode: 0o700 })
    cpSync(join(folder, 'base'), primaryFolder, { recursive: true })
  } finally {
    rmSync(backups, { recursive: true, force: true })
  }
  await cluster.start({ RECOVERY: 'yes' })
  await release(cluster, dataDir, shards)
  gate.open()
  return true
}

async function ended(
  program: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<string> {
  const { exitCode, out, err } = await startProgram(program, args, environment).ended
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')}: ${err}`)
  return out
}

/**
 * Whether every payment is submitted, and none has moved on for a while. The rail answers the rest
 * when it is asked, also after the restore.
 */
async function isQuiet(dataDir: string, url: string): Promise<boolean> {
  const store = { ...DEFAULT_STORE, STORE_URL: url }
  const deadline = patience(QUIET_WITHIN_MS)
  let before = ''
  let since = performance.now()
  while (!deadline.isOver()) {
    const rows = await storedRows<{ state: string }>(dataDir, store, 'processor', STATES)
    const now = JSON.stringify(rows)
    if (now !== before) since = performance.now()
    before = now
    const isSubmitted = rows.every(({ state }) => state !== 'created')
    if (isSubmitted && performance.now() - since >= QUIET_MS) return true
    await systemPause(LOOK_EVERY_MS)
  }
  return false
}

async function release(
  cluster: ClusterUnderTest,
  dataDir: string,
  shards: readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-statement-'))
  const file = join(folder, 'statement.csv')
  const ops = cluster.operatorCli()
  await writeStatement(dataDir, file)
  for (const shard of shards) {
    const words = ['recovery', 'release', '--shard', shard, '--statement', file, '--yes']
    let told = ''
    await eventually(
      `${shard} is released`,
      async () => {
        const released = await ops(...words, '--reason', 'a test of restores')
        told = released.err
        return released.exitCode === 0 || /recovery_not_active/.test(told)
      },
      RELEASED_WITHIN_MS,
    ).catch(() => {
      throw new Error(`${shard} is not released: ${told}`)
    })
  }
  rmSync(folder, { recursive: true })
}
