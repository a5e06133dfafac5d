/** The sandbox rail: composition root. */
import { configuredCaller, createCallers } from '../../auth/callers.js'
import { childProcess, isSupervised } from '../../base/child.js'
import { systemClock } from '../../base/clock.js'
import { openGrpcTls } from '../../base/grpc_tls.js'
import { createLog } from '../../base/log.js'
import { openOpsHttp, opsListen, ownReadiness } from '../../base/ops_http.js'
import { systemRandom } from '../../base/random.js'
import { reportStartupFaults } from '../../base/startup_faults.js'
import { programOptions } from '../../base/program_options.js'
import { dataFile, requirePrivateDataDir } from '../../base/settings.js'
import { readSettings } from '../../base/settings_reader.js'
import { FILES } from '../../base/subjects.js'
import { createMetrics } from '../../metrics/metrics.js'
import { ownPage, reportProcess } from '../../metrics/process_metrics.js'
import { reportStoreFile } from '../../metrics/store_files.js'
import { openJournal } from './journal.js'
import { startSandboxRail } from './server.js'

/** Unknown commit outcome: the supervisor restarts the process, which recovers from disk. */
const EXIT_RECOVER = 70

reportStartupFaults()
programOptions('rail', 'The sandbox rail: simulates a bank network.', {})

const settings = readSettings()
requirePrivateDataDir(settings)
const log = createLog('sandbox_rail', settings)
const random = systemRandom()
const metrics = createMetrics()
reportProcess(metrics)
const database = dataFile(settings, FILES.railDatabase)
reportStoreFile(metrics, database)
const journal = await openJournal(database, random)
const rail = await startSandboxRail({
  address: settings.RAIL_LISTEN,
  callers: createCallers(settings.CALLERS.map(configuredCaller), systemClock),
  tls: openGrpcTls(settings, log),
  journal,
  clock: systemClock,
  random,
  log,
  delayMs: settings.RAIL_DELAY_MS,
  fail: (error) => {
    log.fatal({ error }, 'journal write failed')
    log.flush(() => process.exit(EXIT_RECOVER))
  },
})

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
    await rail.close()
    await journal.close()
    await ops?.close()
  },
})
child.ready({ address: rail.address })
log.info({ address: rail.address }, 'serving')
