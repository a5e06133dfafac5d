/** Wires one gateway from its parts; main.ts, the tests and the load tool supply the parts. */
import type { Clock } from '../src/base/clock.js'
import type { ErrorCode } from '../src/base/errors.js'
import type { Logger } from '../src/base/log.js'
import { sourceOf } from '../src/base/network.js'
import type { Random } from '../src/base/random.js'
import type { Settings } from '../src/settings/settings.js'
import type { Tracer } from '../src/tracing/tracer.js'
import { createAddressList, type AddressList } from './authentication/ip_allowlist.js'
import { createApp } from './app.js'
import { createAuthenticator } from './authentication/authenticate.js'
import { createRequestScheduler } from './admission/request_scheduler.js'
import { watchCertificate } from './http/certificate_watch.js'
import { brandHeaders } from './http/headers.js'
import { createClientAddress } from './authentication/client_address.js'
import { createConnectionCap } from './admission/connection_limit.js'
import type { StaticFiles } from './http/static_file.js'
import type { Directory } from './authentication/partners.js'
import { createHosts } from './routing/hosts.js'
import { createHttpServer, type HttpServer, type TlsFiles } from './http/server.js'
import { connectionCapacity, openConnections } from './admission/socket_count.js'
import { createTrafficClassifier } from './admission/traffic_class.js'
import { CONNECTIONS_MAX, createLimits } from './admission/limits.js'
import type { GatewayMetrics } from './metrics.js'
import { documentFile } from './openapi/served.js'
import type { ProcessorClient } from './upstream/processor_client.js'
import { createRejectionThrottle } from './admission/rejection_throttle.js'
import { createRequestLog } from './request_log.js'
import { createRequestTraces } from './request_traces.js'

export interface GatewayParts {
  readonly settings: Settings
  readonly directory: Directory
  readonly processor: ProcessorClient
  readonly metrics: GatewayMetrics
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Default: no documentation. */
  readonly docs?: StaticFiles
  /** Undefined means that nothing is traced. */
  readonly tracer?: Tracer | undefined
  /** Default: the values of base/constants, admission/limits and http/server. */
  readonly headWithinMs?: number
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
  readonly connectionsMax?: number
  /** Default: what the kernel allows this process. */
  readonly connectionCapacity?: number
  /** Default: that of http/certificate_watch. */
  readonly certificateCheckMs?: number
}

export function createGateway(parts: GatewayParts): HttpServer {
  const { settings, directory, metrics, clock, log } = parts
  const isProxy = proxiesOf(settings)
  const clientAddress = createClientAddress(isProxy)
  const headers = brandHeaders(settings.BRAND)
  const limits = createLimits({ settings, clientAddress, clock, onLimited: metrics.limited })
  metrics.watchHeld(() => limits.queue.held)
  const { tracer } = parts
  const traces = tracer === undefined ? undefined : createRequestTraces(tracer, parts.random)
  const app = createApp({
    traces,
    brandHeaders: headers,
    hosts: createHosts(settings),
    rejectionThrottle: createRejectionThrottle(clock),
    limits,
    classify: createTrafficClassifier(headers, directory),
    scheduler: createRequestScheduler(limits.queue),
    authenticator: createAuthenticator({
      brandHeaders: headers,
      clientAddress,
      directory,
      clock,
      onRefused: metrics.authenticationRefused,
    }),
    directory,
    processor: parts.processor,
    clock,
    openApi: documentFile(settings.BRAND),
    docs: parts.docs ?? new Map(),
  })
  const requestLog = createRequestLog({ log, settings })
  const isWithinCap = createConnectionCap({
    max: parts.connectionsMax ?? CONNECTIONS_MAX,
    countOpen: () => openConnections(server.port),
    log,
  })
  const capacity = parts.connectionCapacity ?? connectionCapacity()
  const connectionRefusal = (peer: string, open: number): ErrorCode | undefined => {
    if (open > capacity) return 'configuration_error'
    if (settings.RATE_LIMIT === 'off' || isProxy(peer)) return undefined
    return isWithinCap(sourceOf(peer), capacity - open) ? undefined : 'rate_limited'
  }
  const rejectConnection = (peer: string, open: number): ErrorCode | undefined => {
    const code = connectionRefusal(peer, open)
    if (code !== undefined) {
      metrics.limited('connections')
      requestLog.connectionRefused(code)
    }
    return code
  }
  const server = createHttpServer({
    ...parts,
    service: app.service,
    keptHeaders: app.headers,
    tls: tlsOf(settings),
    sourceOf: (request) => sourceOf(clientAddress(request)),
    rejectConnection,
    onUnread: metrics.unread,
    scarceAbove: capacity / 4,
    observe: (request, target, status, body) => {
      const elapsedMs = clock.now() - request.startedAt
      const route = target ?? REFUSED_HEAD
      metrics.observe(route.name, request.method, status, elapsedMs)
      requestLog.answered(request, route, status, elapsedMs, body)
      traces?.answered(request, route.name, status)
    },
  })
  const tls = tlsOf(settings)
  const certificate =
    tls === undefined
      ? undefined
      : watchCertificate({
          ...{ files: tls, log, everyMs: parts.certificateCheckMs },
          onChange: server.renewCertificate,
          onChecked: metrics.certificateChecked,
        })
  return {
    listen: server.listen,
    renewCertificate: server.renewCertificate,
    get port() {
      return server.port
    },
    drain: (withinMs) => {
      certificate?.stop()
      return server.drain(withinMs)
    },
    close: async (withinMs) => {
      certificate?.stop()
      await server.close(withinMs)
      requestLog.stop()
    },
  }
}

const REFUSED_HEAD = { name: 'refused_head', id: '' }

/** Without TRUSTED_PROXIES no peer is a proxy; an empty address list would match every peer. */
const proxiesOf = ({ TRUSTED_PROXIES }: Settings): AddressList =>
  TRUSTED_PROXIES.length === 0 ? () => false : createAddressList(TRUSTED_PROXIES)

const tlsOf = ({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings): TlsFiles | undefined =>
  TLS_CERT_FILE === '' ? undefined : { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE }
