/**
 * One keep-alive connection with at most one request out.
 *
 * - Every request has one outcome: a response, or `lost` when the connection ends or is out of
 *   sync before it.
 * - All sockets read into one buffer: each read is consumed before the next one.
 */
import { connect, type Socket } from 'node:net'
import { createMessageReader } from './http_message.js'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface HttpResponse {
  readonly status: number
  /** Valid until the next read of the socket. */
  readonly body: Buffer
}

export interface HttpSocket {
  send(request: Buffer): void
  /** No event follows. */
  close(): void
}

export interface HttpSocketEvents {
  readonly answered: (response: HttpResponse) => void
  /** The connection ended, with or without a request in flight. */
  readonly lost: (reason: string) => void
}

const STATUS_LINE = /^HTTP\/1\.1 ([0-9]{3}) /
const INCOMING = Buffer.allocUnsafe(64 * 1024)

export function openHttpSocket(address: Address, events: HttpSocketEvents): Promise<HttpSocket> {
  const reader = createMessageReader(STATUS_LINE)
  let lost = false
  const lose = (reason: string): void => {
    if (lost) return
    lost = true
    socket.destroy()
    events.lost(reason)
  }
  const read = (chunk: Buffer): void => {
    const reading = reader.read(chunk)
    if (reading === 'incomplete' || lost) return
    if (reading === 'unreadable') lose('unreadable_answer')
    else events.answered({ status: Number(reading.first[1]), body: reading.body })
  }
  const callback = (bytes: number): boolean => {
    read(INCOMING.subarray(0, bytes))
    return true
  }
  const onread = { buffer: INCOMING, callback }
  const socket: Socket = connect({ ...address, noDelay: true, onread })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => lose('connection_lost'))
      socket.on('close', () => lose('connection_lost'))
      const close = (): void => {
        lost = true
        socket.destroy()
      }
      resolve({ send: (request) => socket.write(request), close })
    })
  })
}
