/**
 * The gateway's connections to the processor of PROCESSOR_ADDRESS, or to all of PROCESSORS.
 */
import type { Metadata } from '@grpc/grpc-js'
import { SECOND, type Clock } from '../../src/base/clock.js'
import type { GrpcTls } from '../../src/grpc/tls.js'
import type { Logger } from '../../src/base/log.js'
import { watchProcessorAddresses } from '../../src/grpc/processor_addresses.js'
import type { Settings } from '../../src/settings/settings.js'
import { watchDirectory } from './partner_directory.js'
import type { Directory } from '../authentication/partners.js'
import { createProcessorClient, type ProcessorClient } from './processor_client.js'
import { createProcessors, type ProcessorState, type ShardState } from './processors.js'

export interface Upstream {
  readonly processor: ProcessorClient
  readonly directory: Directory
  /** Resolves when the gateway can serve. */
  readonly ready: Promise<void>
  /** The state of each processor, if there are several. */
  states?(): readonly ProcessorState[]
  /** Likewise. */
  shards?(): readonly ShardState[]
  close(): void
}

export interface UpstreamOptions {
  readonly tls: GrpcTls
  readonly metadata: Metadata
  readonly clock: Clock
  readonly log: Logger
}

export function openUpstream(
  { PROCESSOR_ADDRESS, PROCESSORS }: Pick<Settings, 'PROCESSOR_ADDRESS' | 'PROCESSORS'>,
  options: UpstreamOptions,
): Upstream {
  return PROCESSORS.length === 0
    ? oneProcessor(PROCESSOR_ADDRESS, options)
    : severalProcessors(PROCESSORS, options)
}

function oneProcessor(address: string, options: UpstreamOptions): Upstream {
  const { metadata, log, tls } = options
  const directory = watchDirectory(address, metadata, log, tls)
  const processor = createProcessorClient({ ...options, address })
  return {
    processor,
    directory,
    ready: Promise.all([directory.known, processor.opened]).then(() => undefined),
    close: () => {
      processor.close()
      directory.stop()
    },
  }
}

/** A gateway that starts while a shard is down serves the others after this time. */
const EVERY_SHARD_WITHIN_MS = 5 * SECOND
const POLL_EVERY_MS = 20

function severalProcessors(addresses: readonly string[], options: UpstreamOptions): Upstream {
  const processors = createProcessors(options)
  const { client, directory, states, shards } = processors
  const watch = watchProcessorAddresses(addresses, processors.setAddresses, options.log)
  let closed = false

  const isReady = (waitedMs: number): boolean => {
    const found = states()
    if (!found.some(({ up }) => up)) return false
    const isComplete = directory.isComplete() && found.every(({ up, shard }) => up || shard === '')
    return isComplete || waitedMs >= EVERY_SHARD_WITHIN_MS
  }

  const untilReady = async (): Promise<void> => {
    const since = performance.now()
    while (!closed && !isReady(performance.now() - since)) {
      await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
    }
  }

  return {
    processor: client,
    directory,
    states,
    shards,
    ready: untilReady(),
    close: () => {
      closed = true
      watch.stop()
      processors.close()
    },
  }
}
