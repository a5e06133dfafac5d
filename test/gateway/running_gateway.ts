/**
 * A real gateway inside of the test's process: its HTTP server on a free port, its stream to a
 * stand-in processor.
 */
import type { Test } from 'tap'
import { Metadata } from '@grpc/grpc-js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { readSettings } from '../../src/base/settings.js'
import type { PartnerUpdate } from '../../protos/types/causeway/v1/PartnerUpdate.js'
import { watchDirectory, type Directory } from '../../gateway/authentication/partner_directory.js'
import { createGateway } from '../../gateway/gateway.js'
import { createMetrics } from '../../gateway/metrics.js'
import {
  createProcessorClient,
  type ProcessorClient,
} from '../../gateway/upstream/processor_client.js'
import { snapshot } from './signing_partner.js'
import { startStandIn, type Script, type StandIn } from './processor_stub.js'

export interface Running {
  readonly port: number
  readonly standIn: StandIn
  readonly processor: ProcessorClient
  readonly directory: Directory
  readonly metrics: () => Promise<string>
}

export interface RunningOptions {
  readonly script?: Script
  readonly partners?: PartnerUpdate
  readonly environment?: Readonly<Record<string, string>>
  readonly waitUntilReady?: boolean
  readonly bodyWithinMs?: number
  readonly answerWithinMs?: number
  readonly connectionsMax?: number
  readonly connectionRoom?: number
  /** Left out: the machine's. */
  readonly clock?: Clock
}

/** `t` ends it: a test, as a rule. */
export async function startGateway(
  t: Pick<Test, 'teardown'>,
  options: RunningOptions = {},
): Promise<Running> {
  const standIn = await startStandIn({
    snapshot: [options.partners ?? snapshot()],
    ...(options.script === undefined ? {} : { script: options.script }),
  })
  const settings = readSettings({ LOG_LEVEL: 'silent', ...options.environment }, '')
  const log = createLog('gateway', settings)
  const clock = options.clock ?? systemClock
  const directory = watchDirectory(standIn.address, new Metadata(), log)
  const processor = createProcessorClient({
    address: standIn.address,
    metadata: new Metadata(),
    clock,
    log,
  })
  const metrics = createMetrics({
    inFlight: () => processor.inFlight,
    streamOpen: () => processor.open,
    directoryFresh: () => directory.fresh,
  })
  t.teardown(() => {
    processor.close()
    directory.stop()
    standIn.stop()
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
  const port = await gateway.listen('127.0.0.1', 0)
  t.teardown(() => gateway.close(0))
  if (options.waitUntilReady ?? true) await Promise.all([directory.known, processor.opened])
  return { port, standIn, processor, directory, metrics: () => metrics.registry.metrics() }
}
