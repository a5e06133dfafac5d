/**
 * The console process: start, readiness and stop.
 *
 * - It has no credential: each call to the processors is made with the token of the operator who is
 *   signed in.
 * - It listens on loopback only, because it speaks plain HTTP: elsewhere it is reached through a
 *   proxy with TLS, or a tunnel.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { allowedHosts } from '../base/allowed_hosts.js'
import { childProcess } from '../base/child.js'
import { SECOND, systemClock } from '../base/clock.js'
import { openGrpcTls } from '../base/grpc_tls.js'
import { createLog } from '../base/log.js'
import { isLoopback } from '../base/network.js'
import { programOptions } from '../base/program_options.js'
import { systemRandom } from '../base/random.js'
import { readSettings, SettingsError } from '../base/settings_reader.js'
import { LOGS_FOLDER } from '../operations/request_logs.js'
import { createApp } from './app.js'
import { createMetrics } from '../metrics/metrics.js'
import { reportProcess } from '../metrics/process_metrics.js'
import { createFigures } from './figures/figures.js'
import { createSessions } from './session/sessions.js'
import { createSignInLimit } from './session/sign_in_limit.js'
import { openUplink } from './session/uplink.js'
import { readStaticFiles } from './static_files.js'

const HEADERS_WITHIN_MS = 10 * SECOND
const REQUEST_WITHIN_MS = 30 * SECOND

async function main(): Promise<void> {
  programOptions('console', 'Serves the console of operators; calls the processors by gRPC.', {})
  const settings = readSettings()
  const { CONSOLE_HOST, CONSOLE_PORT, CONSOLE_HOSTS, CONSOLE_METRICS } = settings
  if (!isLoopback(CONSOLE_HOST)) {
    throw new SettingsError(
      `CONSOLE_HOST=${CONSOLE_HOST} is not a loopback address: tokens would cross the network ` +
        'in the clear. Reach the console through a proxy with TLS (CONSOLE_HOSTS) or a tunnel.',
    )
  }
  const clock = systemClock
  const log = createLog('console', settings)
  const tls = openGrpcTls(settings, log)
  const sessions = createSessions(clock, systemRandom())
  const figures = createFigures({ addresses: CONSOLE_METRICS, clock })
  const metrics = createMetrics()
  reportProcess(metrics)
  metrics.read('causeway_console_sessions', () => sessions.count())
  const app = createApp({
    ...{ clock, log, sessions, figures, logs: join(settings.DATA_DIR, LOGS_FOLDER) },
    signInLimit: createSignInLimit(clock),
    files: readStaticFiles(),
    isAllowedHost: allowedHosts(CONSOLE_HOST, CONSOLE_HOSTS),
    observePage: (page, seconds) =>
      metrics.histogram('causeway_console_page_duration_seconds', page).observe(seconds),
    openUplink: (token) => openUplink(token, { settings, tls, clock }),
  })
  const listener = getRequestListener(app.fetch)
  const server = createServer((request, response) => void listener(request, response))
  server.headersTimeout = HEADERS_WITHIN_MS
  server.requestTimeout = REQUEST_WITHIN_MS
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
