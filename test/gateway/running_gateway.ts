/**
 * A real gateway inside the test process: HTTP server on a free port, stream to a processor stub.
 */
import type { Test } from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { watchDirectory } from '../../gateway/upstream/partner_directory.js'
import type { Directory } from '../../gateway/authentication/partners.js'
import type { StaticFiles } from '../../gateway/http/static_file.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { createGatewayMetrics } from '../../gateway/metrics.js'
import {
  createProcessorClient,
  type ProcessorClient,
} from '../../gateway/upstream/processor_client.js'
import { call, type HttpCall } from './signing_partner.js'
import { startProcessorStub, type Script, type ProcessorStub } from './processor_stub.js'

export interface Running {
  readonly port: number
  readonly processorStub: ProcessorStub
  readonly processor: ProcessorClient
  readonly directory: Directory
  readonly metrics: () => Promise<string>
  /** Sends it. Resolves with the status. */
  readonly status: (request: HttpCall) => Promise<number>
}

export interface RunningOptions {
  readonly script?: Script
  readonly partners?: PartnerUpdate
  readonly environment?: Readonly<Record<string, string>>
  readonly waitUntilReady?: boolean
  readonly headWithinMs?: number
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
  readonly connectionsMax?: number
  readonly connectionCapacity?: number
  readonly certificateCheckMs?: number
  /** Default: one that the kernel chooses. */
  readonly port?: number
  /** Default: none. */
  readonly docs?: StaticFiles
  /** Gets the log lines. Default: nothing is logged. */
  readonly onLogLine?: (line: string) => void
  /** Default: the system clock. */
  readonly clock?: Clock
}

/** `t` stops it on teardown. */
export async function startGateway(
  t: Pick<Test, 'teardown'>,
  options: RunningOptions = {},
): Promise<Running> {
  const { script, partners } = options
  const processorStub = await startProcessorStub(t, {
    ...(partners && { snapshot: [partners] }),
    ...(script && { script }),
  })
  const { onLogLine } = options
  const LOG_LEVEL = onLogLine === undefined ? 'silent' : 'info'
  const settings = readSettings({ LOG_LEVEL, ...options.environment }, '')
  const log =
    onLogLine === undefined
      ? createLog('gateway', settings)
      : createLog('gateway', settings, { write: onLogLine })
  const clock = options.clock ?? systemClock
  const directory = watchDirectory(processorStub.address, new Metadata(), log)
  const processor = createProcessorClient({
    address: processorStub.address,
    metadata: new Metadata(),
    clock,
    log,
  })
  const own = createMetrics()
  const metrics = createGatewayMetrics(own, {
    inFlight: () => processor.inFlight,
    streamOpen: () => processor.open,
    directoryFresh: () => directory.fresh,
  })
  t.teardown(() => {
    processor.close()
    directory.stop()
  })
  const gateway = createGateway({
    ...options,
    settings,
    directory,
    processor,
    metrics,
    clock,
    random: systemRandom(),
    log,
  })
  const port = await gateway.listen('127.0.0.1', options.port ?? 0)
  t.teardown(() => gateway.close(0))
  if (options.waitUntilReady ?? true) await Promise.all([directory.known, processor.opened])
  return {
    ...{ port, processorStub, processor, directory },
    metrics: () => own.text(),
    status: async (request) => (await call(port, request)).status,
  }
}
