/**
 * Server streams that read pages: at most STREAMS_MAX of a service are open.
 *
 * - Each holds a page in memory and shares the read connection.
 */
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { ErrorCode } from '../../base/errors.js'
import { endStream } from './grpc_error.js'

const STREAMS_MAX = 4

type Send<Request, Page> = (
  stream: ServerWritableStream<Request, Page>,
) => Promise<ErrorCode | null>

/** @returns makes a handler of `send`, which returns the error that stopped it, or null */
export function createPageStreams() {
  let open = 0
  return <Request, Page>(send: Send<Request, Page>) => {
    const run = async (stream: ServerWritableStream<Request, Page>): Promise<void> => {
      if (open >= STREAMS_MAX) return endStream(stream, 'rate_limited')
      open += 1
      try {
        const fault = await send(stream)
        if (fault === null) stream.end()
        else endStream(stream, fault)
      } finally {
        open -= 1
      }
    }
    return (stream: ServerWritableStream<Request, Page>): void => void run(stream)
  }
}
