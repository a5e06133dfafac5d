/**
 * The gateway process: start, readiness and stop.
 *
 * `--processor ADDRESS` (`unix:…` or `host:port`) is the processor's gRPC address; `--ops
 * HOST:PORT` serves health and metrics. Everything else comes from the settings.
 */
import type { Server } from 'node:http'
import { childProcess } from '../src/base/child.js'
import { SECOND, systemClock } from '../src/base/clock.js'
import { bearer, readInternalToken } from '../src/base/internal_token.js'
import { createLog } from '../src/base/log.js'
import { systemRandom } from '../src/base/random.js'
import { programOptions } from '../src/base/program_options.js'
import { readSettings } from '../src/base/settings.js'
import { watchDirectory } from './authentication/partner_directory.js'
import { createGateway } from './gateway.js'
import { checkListenAddress } from './http/listen_address.js'
import { createMetrics } from './metrics.js'
import { createOps } from './ops.js'
import { createProcessorClient } from './upstream/processor_client.js'

const FINISH_WITHIN_MS = 5 * SECOND

async function main(): Promise<void> {
  const flags = programOptions('gateway', 'Turns the partner API into gRPC to the processor.', {
    processor: { value: 'ADDRESS', about: "the processor's gRPC", required: true },
    ops: { value: 'PORT', about: 'port of health and metrics of this process alone' },
  })
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
  const server = createGateway({
    settings,
    directory,
    processor,
    metrics,
    clock,
    random: systemRandom(),
    log,
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

function listenOps(ops: Server, address: string): Promise<void> {
  const cut = address.lastIndexOf(':')
  return new Promise((resolve, reject) => {
    ops.once('error', reject)
    ops.listen(Number(address.slice(cut + 1)), address.slice(0, cut), resolve)
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
