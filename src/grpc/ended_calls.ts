/**
 * The ends of the calls of a gRPC server. Each is told once: an end by its handler, by a bound or a
 * missing right, by grpc-js or by the caller.
 *
 * - The server sends the status of a call by one method, which is replaced here: an interceptor
 *   sees neither what other interceptors send nor what grpc-js sends by itself.
 */
import { status, type Metadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js'

export interface EndedCall {
  /** `/SERVICE/Method` */
  readonly path: string
  /** It has more than one request or answer. */
  readonly isStream: boolean
  /** CANCELLED when the caller left before the end. */
  readonly code: status
  /** What the caller sent; undefined when it was not read. */
  readonly metadata: Metadata | undefined
  /** Undefined means that none was sent. */
  readonly answerMetadata: Metadata | undefined
  readonly trailers: Metadata | undefined
}

/** Called when a call begins. @returns what is called when it ends */
export type CallObserver = () => (ended: EndedCall) => void

export interface WatchedCall {
  /** The caller's metadata. */
  received(metadata: Metadata): void
  /** The caller has left, or the call has ended. */
  closed(): void
}

export function watchEnd(
  call: ServerInterceptingCallInterface,
  { path, isStream }: Pick<EndedCall, 'path' | 'isStream'>,
  observe: CallObserver,
): WatchedCall {
  const report = observe()
  let metadata: Metadata | undefined
  let answerMetadata: Metadata | undefined
  let hasEnded = false

  const end = (code: status, trailers: Metadata | undefined): void => {
    if (hasEnded) return
    hasEnded = true
    report({ path, isStream, code, metadata, answerMetadata, trailers })
  }
  const sendStatus = call.sendStatus.bind(call)
  const sendMetadata = call.sendMetadata.bind(call)
  call.sendStatus = (sent) => {
    end(sent.code, sent.metadata ?? undefined)
    sendStatus(sent)
  }
  call.sendMetadata = (sent) => {
    answerMetadata = sent
    sendMetadata(sent)
  }
  return {
    received: (given) => {
      metadata = given
    },
    closed: () => end(status.CANCELLED, undefined),
  }
}
