/**
 * The gateway process: start, readiness and stop.
 *
 * Without a supervisor it serves its own health and metrics.
 */
import { childProcess, isSupervised, REPLACES } from '../src/process/child.js'
import { SECOND, systemClock } from '../src/base/clock.js'
import { bearer } from '../src/grpc/bearer.js'
import { openGrpcTls } from '../src/grpc/tls.js'
import { createLog } from '../src/base/log.js'
import { openOpsHttp, opsListen, ownReadiness } from '../src/process/ops_http.js'
import { reportCertificates } from '../src/metrics/certificates.js'
import { createMetrics } from '../src/metrics/metrics.js'
import { ownPage, reportProcess } from '../src/metrics/process_metrics.js'
import { systemRandom } from '../src/base/random.js'
import { programOptions } from '../src/process/program_options.js'
import { degradedBy, reportChanges } from '../src/process/state_report.js'
import { SETTINGS_READ_BY } from '../src/settings/setting_readers.js'
import { readSettings } from '../src/settings/settings_reader.js'
import { useSourcePositions } from '../src/process/source_positions.js'
import { openTracer } from '../src/tracing/tracer.js'
import { docsOnDemand } from './docs/site.js'
import { createGateway } from './gateway.js'
import { checkListenAddress } from './http/listen_address.js'
import { createGatewayMetrics } from './metrics.js'
import { faultsOf, readinessOf } from './readiness.js'
import type { ShardState } from './upstream/processors.js'
import { openUpstream } from './upstream/upstream.js'

const FINISH_WITHIN_MS = 5 * SECOND
/** uWebSockets.js closes an idle connection after 10 s at the latest. */
const DRAIN_WITHIN_MS = 12 * SECOND

async function main(): Promise<void> {
  useSourcePositions()
  const { replaces } = programOptions(
    'gateway',
    'Serves the partner API and forwards it to the processor.',
    REPLACES,
  )
  const settings = readSettings()
  checkListenAddress(settings)

  const log = createLog('gateway', settings)
  const clock = systemClock
  const metadata = bearer(settings.PROCESSOR_TOKEN)
  const tls = openGrpcTls(settings, log)
  const upstream = openUpstream(settings, { tls, metadata, clock, log })
  const { directory, processor, states, shards } = upstream
  const own = createMetrics()
  reportProcess(own)
  reportCertificates(own, settings, SETTINGS_READ_BY['gateway/main.js'])
  const metrics = createGatewayMetrics(own, {
    inFlight: () => processor.inFlight,
    streamOpen: () => processor.open,
    directoryFresh: () => directory.fresh,
    ...(states === undefined ? {} : { processors: states }),
    ...(shards === undefined ? {} : { shards }),
  })
  const random = systemRandom()
  const elapsed = (): number => performance.now()
  const tracer = openTracer({
    ...{ process: 'gateway', settings, metrics: own, clock, elapsed, random, log },
  })
  const server = createGateway({
    settings,
    directory,
    processor,
    metrics,
    clock,
    random,
    log,
    tracer,
    docs: docsOnDemand(settings.BRAND),
  })

  let listening = false
  const readiness = () =>
    readinessOf({
      listening,
      streamOpen: processor.open,
      directoryFresh: directory.fresh,
      ...(states === undefined ? {} : { processors: states() }),
      ...(shards === undefined ? {} : { shardsWithoutRoute: withoutRoute(shards()) }),
    })
  const ops = isSupervised()
    ? undefined
    : await openOpsHttp(opsListen(settings), {
        readiness: ownReadiness('gateway', readiness),
        metrics: () => ownPage('gateway', own),
      })
  const child = childProcess({
    log,
    metrics: () => own.text(),
    drain: () => {
      listening = false
      return server.drain(DRAIN_WITHIN_MS)
    },
    stop: async () => {
      listening = false
      await server.close(FINISH_WITHIN_MS)
      upstream.close()
      await tracer?.stop()
      await ops?.close()
    },
  })
  // The former one serves until then.
  if (replaces) await upstream.ready
  const port = await server.listen(settings.HTTP_HOST, settings.HTTP_PORT)
  listening = true
  await upstream.ready
  log.info({ port }, 'serving')
  const stateNow = () => ({ port, ...degradedBy(faultsOf(readiness())) })
  child.ready(stateNow())
  reportChanges(child, stateNow)
}

const withoutRoute = (shards: readonly ShardState[]): readonly string[] =>
  shards.filter(({ routed }) => !routed).map(({ shard }) => shard)

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
