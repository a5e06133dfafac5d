/**
 * A gateway, put together from its parts.
 *
 * Owns: the wiring that every gateway shares. Does not own: where the parts come from (main,
 * ceiling), processes.
 */
import type { Clock } from '../src/base/clock.js'
import type { Logger } from '../src/base/log.js'
import type { Random } from '../src/base/random.js'
import type { Settings } from '../src/base/settings.js'
import { createApp } from './app.js'
import { createAuthenticator } from './authenticate.js'
import type { Directory } from './directory.js'
import { createHttpServer, type HttpServer, type TlsFiles } from './exchange.js'
import { createHosts } from './hosts.js'
import type { Metrics } from './metrics.js'
import type { ProcessorClient } from './processor_client.js'
import { createRateLimit, unlimited } from './rate_limit.js'

export interface GatewayParts {
  readonly settings: Settings
  readonly directory: Directory
  readonly processor: ProcessorClient
  readonly metrics: Metrics
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Left out: the bounds of base/bounds. */
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
}

export function createGateway(parts: GatewayParts): HttpServer {
  const { settings, directory, metrics, clock, log } = parts
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
    processor: parts.processor,
  })
  const everyRequest = log.isLevelEnabled('debug')
  return createHttpServer({
    ...parts,
    service: app.service,
    keptHeaders: app.headers,
    tls: tlsOf(settings),
    observe: ({ requestId, startedAt }, target, status) => {
      const route = target?.name ?? 'refused_head'
      const elapsedMs = clock.now() - startedAt
      metrics.observe(route, status, elapsedMs)
      const record = () => ({ request_id: requestId, route, status, elapsed_ms: elapsedMs })
      if (everyRequest) log.debug(record(), 'answered')
      else if (status === 504) log.warn(record(), 'an answer came too late')
    },
  })
}

const tlsOf = ({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings): TlsFiles | undefined =>
  TLS_CERT_FILE === '' ? undefined : { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE }
