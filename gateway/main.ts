/**
 * The gateway process.
 *
 * Owns: wiring, start and stop. Everything else is elsewhere.
 *
 * `--processor ADDRESS` (`unix:…` or `host:port`) is where the processor's gRPC is;
 * `--ops HOST:PORT` serves health and metrics there. The rest comes from the settings.
 */
import type { Server } from 'node:http'
import { parseArgs } from 'node:util'
import { childProcess } from '../src/base/child.js'
import { SECOND, systemClock } from '../src/base/clock.js'
import { bearer, readInternalToken } from '../src/base/internal_token.js'
import { createLog } from '../src/base/log.js'
import { systemRandom } from '../src/base/random.js'
import { readSettings, type Settings } from '../src/base/settings.js'
import { createApp } from './app.js'
import { createAuthenticator } from './authenticate.js'
import { watchDirectory } from './directory.js'
import { createHttpServer } from './exchange.js'
import { createHosts } from './hosts.js'
import { checkListenAddress } from './listen_address.js'
import { createMetrics } from './metrics.js'
import { createOps } from './ops.js'
import { createProcessorClient } from './processor_client.js'
import { createRateLimit, unlimited } from './rate_limit.js'

const FINISH_WITHIN_MS = 5 * SECOND

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: { processor: { type: 'string' }, ops: { type: 'string' } },
  })
  if (flags.processor === undefined) throw new Error('--processor ADDRESS is missing')
  const settings = readSettings()
  checkListenAddress(settings)

  const log = createLog('gateway', settings)
  const clock = systemClock
  const metadata = bearer(readInternalToken(settings))
  const directory = watchDirectory(flags.processor, metadata, log)
  const processor = createProcessorClient({ address: flags.processor, metadata, clock, log })
  const metrics = createMetrics({
    inFlight: () => processor.inFlight,
    streamOpen: () => processor.open,
    directoryFresh: () => directory.fresh,
  })
  const app = createApp({
    hosts: createHosts(settings),
    authenticator: createAuthenticator({
      brand: settings.BRAND,
      directory,
      clock,
      onRefused: metrics.authenticationRefused,
    }),
    rateLimit: settings.RATE_LIMIT === 'on' ? createRateLimit(clock) : unlimited,
    defaultRatePerSecond: settings.RATE_LIMIT_PER_SECOND,
    processor,
  })
  const server = createHttpServer({
    service: app.service,
    keptHeaders: app.headers,
    tls: tlsOf(settings),
    clock,
    random: systemRandom(),
    log,
    observe: (target, status, elapsedMs) =>
      metrics.observe(target?.name ?? 'refused_head', status, elapsedMs),
  })

  let listening = false
  const ops = createOps({
    registry: metrics.registry,
    readiness: () => ({
      listening,
      streamOpen: processor.open,
      directoryFresh: directory.fresh,
    }),
  })
  const child = childProcess({
    metrics: () => metrics.registry.metrics(),
    stop: async () => {
      listening = false
      await server.close(FINISH_WITHIN_MS)
      processor.close()
      directory.stop()
      ops.close()
    },
  })
  if (flags.ops !== undefined) await listenOps(ops, flags.ops)
  const port = await server.listen(settings.HTTP_HOST, settings.HTTP_PORT)
  listening = true
  await Promise.all([directory.known, processor.opened])
  log.info({ port }, 'serving')
  child.ready({ port })
}

const tlsOf = ({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings) =>
  TLS_CERT_FILE === '' ? undefined : { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE }

function listenOps(ops: Server, address: string): Promise<void> {
  const cut = address.lastIndexOf(':')
  return new Promise((resolve, reject) => {
    ops.once('error', reject)
    ops.listen(Number(address.slice(cut + 1)), address.slice(0, cut), resolve)
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
