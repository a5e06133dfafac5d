/**
 * What a process that owns data begins with: settings, log, metrics, its health page without a
 * supervisor, and the link to the supervisor.
 *
 * - It is not ready, and stops at once, until it says otherwise.
 * - The health page is closed last.
 */
import {
  childProcess,
  formerEnded,
  isSupervised,
  REPLACES,
  type ChildProcess,
} from '../process/child.js'
import { openGrpcTls, type GrpcTls } from '../grpc/tls.js'
import { createLog, type Logger } from '../base/log.js'
import { openOpsHttp, opsListen, ownReadiness, type Readiness } from '../process/ops_http.js'
import { programOptions } from '../process/program_options.js'
import { systemRandom, type Random } from '../base/random.js'
import { requirePrivateDataDir, type Settings } from '../settings/settings.js'
import { SETTINGS_READ_BY } from '../settings/setting_readers.js'
import { readSettings } from '../settings/settings_reader.js'
import { reportStartupFaults } from '../process/startup_faults.js'
import { reportCertificates } from './certificates.js'
import { createMetrics, type Metrics } from './metrics.js'
import { ownPage, reportProcess } from './process_metrics.js'

const MAIN = { processor: 'src/processor/main.js', webhooks: 'actors/webhook/main.js' } as const

export interface OwnProcess {
  readonly settings: Settings
  readonly log: Logger
  readonly random: Random
  readonly tls: GrpcTls
  readonly metrics: Metrics
  readonly child: ChildProcess
  /** Whether it takes the place of a process that still runs. */
  readonly replaces: boolean
  /** Resolves when the process that it replaces has ended. */
  formerEnded(): Promise<void>
  readinessIs(readiness: () => Readiness): void
  /** Finishes work in flight and closes all resources. Called at most once. */
  stopsBy(stop: () => Promise<void>): void
}

export async function openOwnProcess(name: keyof typeof MAIN, about: string): Promise<OwnProcess> {
  reportStartupFaults()
  const { replaces } = programOptions(name, about, REPLACES)
  const settings = readSettings()
  requirePrivateDataDir(settings)
  const log = createLog(name, settings)
  const tls = openGrpcTls(settings, log)
  const metrics = createMetrics()
  reportProcess(metrics)
  reportCertificates(metrics, settings, SETTINGS_READ_BY[MAIN[name]])
  let readinessNow = (): Readiness => ({ ready: false })
  let stopNow = (): Promise<void> => Promise.resolve()
  const ops = isSupervised()
    ? undefined
    : await openOpsHttp(opsListen(settings), {
        readiness: ownReadiness(name, () => readinessNow()),
        metrics: () => ownPage(name, metrics),
      })
  const child = childProcess({
    log,
    metrics: () => metrics.text(),
    stop: async () => {
      await stopNow()
      await ops?.close()
    },
  })
  return {
    ...{ settings, log, tls, metrics, child, replaces },
    random: systemRandom(),
    formerEnded: async () => {
      if (replaces) await formerEnded()
    },
    readinessIs: (readiness) => {
      readinessNow = readiness
    },
    stopsBy: (stop) => {
      stopNow = stop
    },
  }
}
