/**
 * The process of an adapter: settings, journal, server, health and an orderly stop.
 *
 * Owns: the order of start and stop. Does not own: the bank (its author), the sandbox's rules.
 *
 * - A failed write has an unknown outcome: the process exits with EXIT_RECOVER, and its next start
 *   recovers from the journal.
 */
import { configuredCaller, createCallers } from '../../auth/callers.js'
import {
  childProcess,
  EXIT_RECOVER,
  formerEnded,
  isSupervised,
  REPLACES,
} from '../../process/child.js'
import { systemClock } from '../../base/clock.js'
import { openGrpcTls } from '../../grpc/tls.js'
import { createLog, type Logger } from '../../base/log.js'
import { openOpsHttp, opsListen, ownReadiness } from '../../process/ops_http.js'
import { programOptions } from '../../process/program_options.js'
import { systemRandom } from '../../base/random.js'
import { SETTINGS_READ_BY } from '../../settings/setting_readers.js'
import {
  dataFile,
  requirePrivateDataDir,
  type SettingName,
  type Settings,
} from '../../settings/settings.js'
import { readSettings } from '../../settings/settings_reader.js'
import { reportStartupFaults } from '../../process/startup_faults.js'
import { FILES } from '../../base/subjects.js'
import { reportCertificates } from '../../metrics/certificates.js'
import { createMetrics, type Metrics } from '../../metrics/metrics.js'
import { ownPage, reportProcess } from '../../metrics/process_metrics.js'
import { reportFreeSpace, reportStoreFile } from '../../metrics/store_files.js'
import { openTracer } from '../../tracing/tracer.js'
import type { Bank } from './bank.js'
import { startBankAdapter } from './bank_adapter.js'
import { BANK_JOURNAL_SCHEMA, openJournal } from './journal.js'
import type { Adapter, AdapterOptions } from './server.js'

/** Serves a bank as a rail until the process is stopped. */
export function runAdapter(bank: Bank): Promise<void> {
  return runRail({
    process: bank.name,
    about: `The adapter of ${bank.name}.`,
    schema: BANK_JOURNAL_SCHEMA,
    start: (served) => startBankAdapter({ ...served, bank }),
  })
}

export interface RailProcess {
  /** Its name in logs. */
  readonly process: string
  readonly about: string
  /** See `openJournal`. */
  readonly schema: string
  /** Settings that it reads. Default: those of every adapter. */
  readonly reads?: readonly SettingName[]
  readonly start: (served: Served, settings: Settings, metrics: Metrics) => Promise<Adapter>
}

/** What every adapter is served with. */
export type Served = Omit<AdapterOptions, 'name' | 'rules'>

export async function runRail({
  process: name,
  about,
  schema,
  reads = SETTINGS_READ_BY['src/rails/sandbox/main.js'],
  start,
}: RailProcess): Promise<void> {
  reportStartupFaults()
  const { replaces } = programOptions('rail', about, REPLACES)
  const settings = readSettings()
  requirePrivateDataDir(settings)
  const log = createLog(name, settings)
  const random = systemRandom()
  const metrics = createMetrics()
  reportProcess(metrics)
  reportCertificates(metrics, settings, reads)
  const file = dataFile(settings, FILES.railDatabase)
  reportStoreFile(metrics, file)
  reportFreeSpace(metrics, settings.DATA_DIR)
  if (replaces) await formerEnded()
  const journal = await openJournal({ file, schema, random })
  const elapsed = (): number => performance.now()
  const tracer = openTracer({
    ...{ process: 'rail', settings, metrics, clock: systemClock, elapsed, random, log },
  })
  const served = {
    tracer,
    ...{ address: settings.RAIL_LISTEN, tls: openGrpcTls(settings, log), journal },
    ...{ callers: createCallers(settings.CALLERS.map(configuredCaller), systemClock) },
    ...{ clock: systemClock, random, log, fail: (error: unknown) => exitToRecover(log, error) },
  }
  const rail = await start(served, settings, metrics)
  const close = async (): Promise<void> => {
    await rail.close()
    await journal.close()
    await tracer?.stop()
  }
  await serve({ rail, log, settings, metrics, close })
}

function exitToRecover(log: Logger, error: unknown): void {
  log.fatal({ error }, 'journal write failed')
  log.flush(() => process.exit(EXIT_RECOVER))
}

interface Serving {
  readonly rail: Adapter
  readonly log: Logger
  readonly settings: Settings
  readonly metrics: Metrics
  readonly close: () => Promise<void>
}

async function serve({ rail, log, settings, metrics, close }: Serving): Promise<void> {
  let serving = true
  const ops = isSupervised()
    ? undefined
    : await openOpsHttp(opsListen(settings), {
        readiness: ownReadiness('rail', () => ({ ready: serving })),
        metrics: () => ownPage('rail', metrics),
      })
  const child = childProcess({
    log,
    metrics: () => metrics.text(),
    stop: async () => {
      serving = false
      await close()
      await ops?.close()
    },
  })
  child.ready({ address: rail.address })
  log.info({ address: rail.address }, 'serving')
}
