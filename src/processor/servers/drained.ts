/** Backpressure of server streams. */
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'

/** Resolves when the client can receive more, or has disconnected. */
export async function drained(stream: ServerWritableStream<unknown, unknown>): Promise<void> {
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  stream.once('cancelled', leave)
  stream.once('close', leave)
  await once(stream, 'drain', { signal: gone.signal }).catch(() => undefined)
  stream.off('cancelled', leave)
  stream.off('close', leave)
}
