/**
 * A subscription to the partner directory of one processor, opened again whenever it breaks.
 */
import type { Metadata } from '@grpc/grpc-js'
import { contracts } from '../../src/grpc/contracts.js'
import { createRetry } from '../../src/base/retry.js'
import { createRenewedClient } from '../../src/grpc/renewed_client.js'
import type { GrpcTls } from '../../src/grpc/tls.js'
import type { ProtoGrpcType } from '../../protos/types/directory.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import { CHANNEL_OPTIONS, REOPEN } from './channel.js'

export interface DirectoryListener {
  /** The updates that follow, up to the one marked complete, replace all earlier ones. */
  opened(): void
  updated(update: PartnerUpdate__Output): void
  broke(reason: string): void
}

export interface DirectoryStream {
  close(): void
}

export interface DirectoryStreamOptions {
  readonly address: string
  readonly metadata: Metadata
  readonly tls: GrpcTls
}

export function openDirectoryStream(
  { address, metadata, tls }: DirectoryStreamOptions,
  listener: DirectoryListener,
): DirectoryStream {
  const { Directory } = contracts<ProtoGrpcType>('causeway/internal/v1/directory.proto').causeway
    .internal.v1
  const client = createRenewedClient(
    (given) =>
      new Directory(address, tls.channelCredentials(address), {
        ...{ ...CHANNEL_OPTIONS, ...tls.channelOptions(address), ...given },
      }),
  )
  const retry = createRetry(REOPEN)
  let closed = false

  const subscribe = (): void => {
    listener.opened()
    const stream = client.current().WatchPartners({}, metadata)
    stream.on('data', (update: PartnerUpdate__Output) => {
      if (!closed) listener.updated(update)
    })
    // A stream always ends with a status. The same end also comes as an `error`, which throws
    // without a listener.
    stream.on('error', () => undefined)
    stream.on('status', ({ details }) => {
      if (closed) return
      listener.broke(details)
      retry.schedule(subscribe)
    })
  }

  subscribe()
  return {
    close: () => {
      closed = true
      retry.cancel()
      client.close()
    },
  }
}
