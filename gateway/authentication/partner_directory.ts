/**
 * The partner directory: a subscription to partners, keys and token keys at the processor.
 *
 * - Each subscription starts with a full snapshot, which replaces the previous one when complete.
 * - While the subscription is broken, the last snapshot stays in use and `fresh` is false.
 * - Before the first complete snapshot no caller can be authenticated.
 */
import type { Metadata } from '@grpc/grpc-js'
import { contracts } from '../../src/base/protos.js'
import { createRetry } from '../../src/base/retry.js'
import { CLEARTEXT } from '../../src/base/grpc_tls.js'
import type { Logger } from '../../src/base/log.js'
import type { ProtoGrpcType } from '../../protos/types/directory.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { CHANNEL_OPTIONS, REOPEN } from '../upstream/channel.js'
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

export function watchDirectory(
  address: string,
  metadata: Metadata,
  log: Logger,
  tls = CLEARTEXT,
): WatchedDirectory {
  const { Directory } = contracts<ProtoGrpcType>().causeway.internal.v1
  const client = new Directory(address, tls.channelCredentials(address), CHANNEL_OPTIONS)
  let partners: Partners | undefined
  let fresh = false
  const retry = createRetry(REOPEN)
  let stopped = false
  let resolveKnown = (): void => undefined
  const known = new Promise<void>((resolve) => (resolveKnown = resolve))

  const subscribe = (): void => {
    const snapshot = createPartners()
    const stream = client.WatchPartners({}, metadata)
    stream.on('data', (update: PartnerUpdate__Output) => {
      snapshot.apply(update)
      if (!update.complete) return
      partners = snapshot
      fresh = true
      resolveKnown()
    })
    // A stream always ends with a status. The same end also comes as an `error`, which throws
    // without a listener.
    stream.on('error', () => undefined)
    stream.on('status', ({ details }) => {
      if (fresh) log.warn({ reason: details }, 'directory stream broke: key changes do not arrive')
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
