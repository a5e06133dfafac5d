/**
 * The calls of the kit on the adapter under check, with any token and shard.
 *
 * - Nothing is retried here: a lost link or a refused call is a finding of the line that made it.
 */
import { status, type Metadata, type ServiceError } from '@grpc/grpc-js'
import type { Description__Output } from '../../../protos/types/causeway/rail/v1/Description.js'
import type { MovementSummary__Output } from '../../../protos/types/causeway/rail/v1/MovementSummary.js'
import type { RailClient } from '../../../protos/types/causeway/rail/v1/Rail.js'
import type { ProtoGrpcType } from '../../../protos/types/rail.js'
import { bearer } from '../../grpc/bearer.js'
import { plus, type Clock, type Instant } from '../../base/clock.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../base/constants.js'
import type { GrpcTls } from '../../grpc/tls.js'
import { contracts } from '../../grpc/contracts.js'
import { SHARD_METADATA } from '../rail.js'
import type { LinkCall } from './check_link.js'

export interface CallOptions {
  /** Default: the kit's own. */
  readonly token?: string
  readonly shard?: string
}

export type Answered<Message> =
  | { readonly kind: 'answer'; readonly message: Message }
  | { readonly kind: 'fault'; readonly code: status; readonly text: string }

export interface Probe {
  describe(options?: CallOptions): Promise<Answered<Description__Output>>
  /** @param from epoch ms, inclusive; `to` exclusive */
  summarize(from: number, to: number, options?: CallOptions): Promise<Answered<Summary>>
  openLink(options?: CallOptions): LinkCall
  close(): void
}

export type Summary = MovementSummary__Output

export interface ProbeOptions {
  /** `host:port` or `unix:/path.sock`. */
  readonly address: string
  /** Empty means that the caller's credential is its certificate. */
  readonly token: string
  readonly tls: GrpcTls
  readonly clock: Clock
  /** A call without an answer by then has failed. */
  readonly answeredWithinMs: number
}

export function createProbe(options: ProbeOptions): Probe {
  const { address, token, tls, clock, answeredWithinMs } = options
  const service = contracts<ProtoGrpcType>('rail.proto').causeway.rail.v1.Rail
  const stub: RailClient = new service(address, tls.channelCredentials(address), {
    'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
    'grpc.max_reconnect_backoff_ms': 250,
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.enable_retries': 0,
    ...tls.channelOptions(address),
  })
  const metadataOf = (call: CallOptions = {}): Metadata => {
    const metadata = bearer(call.token ?? token)
    if (call.shard !== undefined) metadata.set(SHARD_METADATA, call.shard)
    return metadata
  }

  return {
    describe: (call) =>
      answerOf((callback) =>
        stub.Describe({}, metadataOf(call), { deadline: deadline() }, callback),
      ),
    summarize: (from, to, call) =>
      answerOf((callback) =>
        stub.Summarize(
          { from: String(from), to: String(to) },
          metadataOf(call),
          { deadline: deadline() },
          callback,
        ),
      ),
    openLink: (call) => stub.Link(metadataOf(call)),
    close: () => stub.close(),
  }

  function deadline(): Instant {
    return plus(clock.now(), answeredWithinMs)
  }
}

type Callback<Message> = (fault: ServiceError | null, message?: Message) => void

function answerOf<Message>(
  call: (callback: Callback<Message>) => unknown,
): Promise<Answered<Message>> {
  return new Promise((resolve) => {
    call((fault, message) => {
      if (message !== undefined) return resolve({ kind: 'answer', message })
      const code = fault?.code ?? status.UNKNOWN
      resolve({ kind: 'fault', code, text: fault?.details ?? 'no answer' })
    })
  })
}
