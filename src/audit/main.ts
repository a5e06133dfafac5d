/**
 * The audit program: composition root.
 *
 * Databases in PostgreSQL (STORE_URL) are exported to temporary files, as one snapshot shows them.
 * If a cluster runs there, every shard is audited, and the union of all shards.
 *
 * `[--data-dir DIR] [--rail-dir DIR] [--archive PATH] [--json] [--live] [--webhooks-replaced-at
 * TIME]`. Exit code 0: clean; 1: a check is broken; 2: nothing to audit, or a bad argument. It
 * reads the databases of DIR (default: DATA_DIR) and needs no running process; the stack may
 * run. The bundled PostgreSQL server of a stopped stack is started for the audit. `--rail-dir`:
 * where the rail's log is, unless in DIR. `--live` leaves out the checks that compare databases.
 * `--webhooks-replaced-at` accepts that deliveries settled until then are missing, because the
 * operator replaced webhooks.db.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { instant, systemClock, type Instant } from '../base/clock.js'
import { programOptions } from '../process/program_options.js'
import { storeUrl } from '../settings/settings.js'
import { readSettings } from '../settings/settings_reader.js'
import { useSourcePositions } from '../process/source_positions.js'
import { FILES, webhookDatabase, WEBHOOK_POOLS_MAX, webhookSchema } from '../base/subjects.js'
import { toVisibleJson } from '../base/visible_text.js'
import { exportSchemas, type SchemaFile } from '../store/postgres/copy.js'
import { startStoppedStore, type StartedStore } from '../supervisor/stopped_store.js'
import { audit, type CheckResult } from './audit.js'
import { databasesIn, NothingToAudit, openBooks, type Exported } from './books.js'
import { auditCluster } from './cluster_audit.js'
import { exportCluster } from './cluster_export.js'
import { readThrough } from './page_cache.js'
import { checkLine, clusterConclusion, conclusion, unionConclusion } from './report.js'

const BROKEN = 1
const NOTHING_AUDITED = 2
/** RFC 3339, e.g. 2026-11-21T04:35:00Z. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

useSourcePositions()
const args = programOptions('audit', 'Checks the databases of a DATA_DIR against each other.', {
  dataDir: { value: 'DIR', about: 'the data directory (default: DATA_DIR)' },
  railDir: { value: 'DIR', about: "the rail's data directory (default: the data directory)" },
  archive: {
    value: 'PATH',
    about: 'the archive of ended payments, or its folder (default: where it was written)',
  },
  json: { about: 'print JSON for machines' },
  live: { about: 'leave out checks that compare databases, for a running stack' },
  webhooksReplacedAt: {
    value: 'TIME',
    about: 'accept missing deliveries settled until TIME (RFC 3339)',
  },
})
const print = (text: string): void => void process.stdout.write(`${text}\n`)
const printProgress = args.json ? (): void => undefined : print

const settings = readSettings()
const dataDir = resolve(args.dataDir ?? settings.DATA_DIR)
const railDir = resolve(args.railDir ?? dataDir)
const options = {
  live: args.live,
  poolsReplacedAt: timeOf(args.webhooksReplacedAt),
  stopwatch: () => performance.now(),
  onCheck: (result: CheckResult) => printProgress(checkLine(result)),
}
let stopped: StartedStore | undefined
const temporary = mkdtempSync(join(tmpdir(), 'causeway-audit-'))
try {
  if (settings.STORE_URL === '') stopped = await startStoppedStore(dataDir)
  const isClean = await run()
  if (!isClean) process.exitCode = BROKEN
} catch (error) {
  const isMissing = error instanceof NothingToAudit
  const reason = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${isMissing ? 'nothing to audit' : 'cannot be read'}: ${reason}\n`)
  process.exitCode = isMissing ? NOTHING_AUDITED : BROKEN
}
await stopped?.stop()
rmSync(temporary, { recursive: true, force: true })

async function run(): Promise<boolean> {
  const url = stopped?.url ?? storeUrl(settings, dataDir)
  const { SHARD: shard, WEBHOOK_POOL_SCHEMA: poolSchema } = settings
  const poolUrl = settings.WEBHOOK_STORE_URL || url
  const given = {
    ...{ url, poolUrl, dataDir, railDir, folder: temporary, poolSchema, shard },
    archive: args.archive,
    clock: systemClock,
  }
  const cluster = url === '' ? undefined : await exportCluster(given)
  if (cluster !== undefined) {
    const report = await auditCluster(cluster, {
      ...options,
      ...given,
      onPart: printProgress,
      onShard: (ofShard) => printProgress(conclusion(ofShard)),
      onUnion: (union) => printProgress(unionConclusion(union)),
    })
    print(args.json ? toVisibleJson(JSON.stringify(report)) : clusterConclusion(report))
    return report.clean
  }
  // A check tells what cannot be read.
  if (url === '') await readThrough(databasesIn(dataDir, railDir)).catch(() => undefined)
  const books = await openBooks(dataDir, systemClock, {
    ...{ poolsReplacedAt: options.poolsReplacedAt, railDir, archive: args.archive },
    exported: url === '' ? undefined : await exported(url, poolUrl),
  })
  const report = await audit(books, options)
  print(args.json ? toVisibleJson(JSON.stringify(report)) : conclusion(report))
  await books.close()
  return report.clean
}

/** Epoch 0 when absent. */
function timeOf(text: string | undefined): Instant {
  if (text === undefined) return instant(0)
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!(at >= 0)) {
    process.stderr.write(`--webhooks-replaced-at: ${text} is not a time\n`)
    process.exit(NOTHING_AUDITED)
  }
  return instant(at)
}

/** Pools on a connection of their own are exported after the books, so they are not older. */
async function exported(url: string, poolUrl: string): Promise<Exported> {
  const asOf = systemClock.now()
  const pools = Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) => ({
    schema: webhookSchema(settings.WEBHOOK_POOL_SCHEMA, index + 1),
    file: join(temporary, webhookDatabase(index + 1)),
    holds: 'pool' as const,
  }))
  const booksTo = (name: string): SchemaFile => ({
    schema: settings.SHARD,
    file: join(temporary, name),
    holds: 'books',
  })
  const books = booksTo(FILES.processorDatabase)
  if (poolUrl === url) await exportSchemas(url, [books, ...pools])
  else {
    await exportSchemas(url, [books])
    await exportSchemas(poolUrl, pools)
  }
  return {
    folder: temporary,
    asOf,
    again: async () => {
      const later = booksTo('later.db')
      await exportSchemas(url, [later])
      return later.file
    },
  }
}
