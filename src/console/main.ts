/**
 * The console process: start, readiness and stop.
 *
 * - Each call to the processors is made with the token of the operator who is signed in, or with
 *   the operator's certificate and the console's own token, which alone permits nothing.
 * - Without TLS it listens on loopback only: elsewhere it is reached through a proxy with TLS, or a
 *   tunnel.
 */
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { allowedHosts } from '../process/allowed_hosts.js'
import { childProcess } from '../process/child.js'
import { systemClock } from '../base/clock.js'
import { openGrpcTls } from '../grpc/tls.js'
import { createLog } from '../base/log.js'
import { programOptions } from '../process/program_options.js'
import { systemRandom } from '../base/random.js'
import { SETTINGS_READ_BY } from '../settings/setting_readers.js'
import { readSettings } from '../settings/settings_reader.js'
import { useSourcePositions } from '../process/source_positions.js'
import { LOGS_FOLDER } from '../operations/payments/request_logs.js'
import { createApp } from './app.js'
import { reportCertificates } from '../metrics/certificates.js'
import { createMetrics } from '../metrics/metrics.js'
import { reportProcess } from '../metrics/process_metrics.js'
import { createFigures } from './figures/figures.js'
import { createConsoleServer } from './server.js'
import { createSessions } from './session/sessions.js'
import { createSignInLimit } from './session/sign_in_limit.js'
import { openUplink } from './session/uplink.js'
import { readStaticFiles } from './static_files.js'

async function main(): Promise<void> {
  useSourcePositions()
  programOptions('console', 'Serves the console of operators; calls the processors by gRPC.', {})
  const settings = readSettings()
  const { CONSOLE_HOST, CONSOLE_PORT, CONSOLE_HOSTS, CONSOLE_METRICS } = settings
  const clock = systemClock
  const log = createLog('console', settings)
  const tls = openGrpcTls(settings, log)
  const sessions = createSessions(clock, systemRandom())
  const figures = createFigures({ addresses: CONSOLE_METRICS, clock })
  const metrics = createMetrics()
  reportProcess(metrics)
  reportCertificates(metrics, settings, SETTINGS_READ_BY['src/console/main.js'])
  metrics.read('causeway_console_sessions', () => sessions.count())
  const app = createApp({
    ...{ clock, log, sessions, figures, logs: join(settings.DATA_DIR, LOGS_FOLDER) },
    signInLimit: createSignInLimit(clock),
    files: readStaticFiles(),
    isAllowedHost: allowedHosts(CONSOLE_HOST, CONSOLE_HOSTS),
    observePage: (page, seconds) =>
      metrics.histogram('causeway_console_page_duration_seconds', page).observe(seconds),
    openUplink: (credential) => openUplink(credential, { settings, tls, clock }),
    ownToken: settings.CONSOLE_CLIENT_CA_FILE === '' ? undefined : settings.PROCESSOR_TOKEN,
  })
  const listener = getRequestListener(app.fetch)
  const server = createConsoleServer(
    settings,
    (request, response) => void listener(request, response),
    log,
  )
  const child = childProcess({
    log,
    metrics: () => metrics.text(),
    stop: () =>
      new Promise((done) => {
        figures.stop()
        sessions.close()
        server.close(() => done())
        server.closeAllConnections()
      }),
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(CONSOLE_PORT, CONSOLE_HOST, done)
  })
  const { port } = server.address() as AddressInfo
  log.info({ port }, 'serving')
  figures.start()
  child.ready({ port })
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
