/** Backpressure of server streams. */
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'

/** Resolves when the client can receive more, or has disconnected. */
export async function drained(stream: ServerWritableStream<unknown, unknown>): Promise<void> {
  // Its events have been emitted already.
  if (stream.cancelled || stream.destroyed) return
  const ended = new AbortController()
  const end = (): void => ended.abort()
  stream.once('cancelled', end)
  stream.once('close', end)
  await once(stream, 'drain', { signal: ended.signal }).catch(() => undefined)
  stream.off('cancelled', end)
  stream.off('close', end)
}
