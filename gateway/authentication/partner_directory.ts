/**
 * The directory: partners, streamed by the processor.
 *
 * Owns: the subscription and its freshness. Does not own: the partners' form (partners), what a
 * caller may do.
 *
 * - Each subscription starts with everything; only when that is complete does it replace what was
 *   known before.
 * - What was known stays in use while the subscription is broken, and is then not fresh.
 * - Nothing is known before the first complete snapshot: nobody can be authenticated then.
 */
import type { Metadata } from '@grpc/grpc-js'
import { contracts } from '../../src/base/protos.js'
import { createRetry } from '../../src/base/retry.js'
import type { Logger } from '../../src/base/log.js'
import type { ProtoGrpcType } from '../../protos/types/directory.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/v1/PartnerUpdate.js'
import { CHANNEL_OPTIONS, channelCredentials, REOPEN } from '../upstream/channel.js'
import { createPartners, type Partners } from './partners.js'

export interface Directory {
  /** Undefined before the first complete snapshot. */
  partners(): Partners | undefined
  readonly fresh: boolean
}

export interface WatchedDirectory extends Directory {
  /** Resolves with the first complete snapshot. */
  readonly known: Promise<void>
  stop(): void
}

export function watchDirectory(address: string, metadata: Metadata, log: Logger): WatchedDirectory {
  const { Directory } = contracts<ProtoGrpcType>().causeway.v1
  const client = new Directory(address, channelCredentials(), CHANNEL_OPTIONS)
  let partners: Partners | undefined
  let fresh = false
  const retry = createRetry(REOPEN)
  let stopped = false
  let announce = (): void => undefined
  const known = new Promise<void>((resolve) => (announce = resolve))

  const subscribe = (): void => {
    const filling = createPartners()
    const stream = client.WatchPartners({}, metadata)
    stream.on('data', (update: PartnerUpdate__Output) => {
      filling.apply(update)
      if (!update.complete) return
      partners = filling
      fresh = true
      announce()
    })
    // A stream always ends with a status; the same end as an `error` needs a listener or it is
    // thrown.
    stream.on('error', () => undefined)
    stream.on('status', ({ details }) => {
      if (fresh) log.warn({ details }, 'the directory is not fresh: its stream broke')
      fresh = false
      if (!stopped) retry.schedule(subscribe)
    })
  }

  subscribe()
  return {
    known,
    partners: () => partners,
    get fresh() {
      return fresh
    },
    stop: () => {
      stopped = true
      retry.cancel()
      client.close()
    },
  }
}
