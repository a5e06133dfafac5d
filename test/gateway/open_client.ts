/** A raw connection whose answers a test reads as they come. */
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { statusOf } from './signing_partner.js'

export interface RawClient {
  readonly socket: Socket
  /** All that has come. */
  received(): string
  /** The first status; 0 before it arrives. */
  status(): number
  isClosed(): boolean
  /** Resolves when the connection is closed, by an error too. */
  readonly closed: Promise<void>
}

/** Connects and sends the bytes. `t` disconnects it on teardown. */
export function openClient(
  t: Pick<Test, 'teardown'>,
  port: number,
  bytes = '',
  localAddress?: string,
): RawClient {
  const from = localAddress === undefined ? {} : { localAddress }
  const socket = connect({ port, host: '127.0.0.1', ...from })
  let text = ''
  let isClosed = false
  t.teardown(() => socket.destroy())
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  // A reset beside the end of the connection is an error that no 'close' follows.
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => resolve())
    socket.on('close', () => resolve())
  })
  void closed.then(() => (isClosed = true))
  if (bytes !== '') socket.write(bytes)
  return {
    socket,
    received: () => text,
    status: () => (text === '' ? 0 : statusOf(text)),
    isClosed: () => isClosed,
    closed,
  }
}
