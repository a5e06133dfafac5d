/**
 * The partner directory: a subscription to partners, keys and token keys at the processor.
 *
 * - Each subscription starts with a full snapshot, which replaces the previous one when complete.
 * - While the subscription is broken, the last snapshot stays in use and `fresh` is false.
 * - Before the first complete snapshot no caller can be authenticated.
 */
import type { Metadata } from '@grpc/grpc-js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import type { Logger } from '../../src/base/log.js'
import { openDirectoryStream } from './directory_stream.js'
import { createPartners, type Directory, type Partners } from '../authentication/partners.js'

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
  let snapshot = createPartners()
  let partners: Partners | undefined
  let fresh = false
  let resolveKnown = (): void => undefined
  const known = new Promise<void>((resolve) => (resolveKnown = resolve))
  const stream = openDirectoryStream(
    { address, metadata, tls },
    {
      opened: () => (snapshot = createPartners()),
      updated: (update) => {
        snapshot.apply(update)
        if (!update.complete) return
        partners = snapshot
        fresh = true
        resolveKnown()
      },
      broke: (reason) => {
        if (fresh) log.warn({ reason }, 'directory stream broke: key changes do not arrive')
        fresh = false
      },
    },
  )
  return {
    known,
    partners: () => partners,
    isComplete: () => true,
    get fresh() {
      return fresh
    },
    stop: () => stream.close(),
  }
}
