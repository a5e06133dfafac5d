/**
 * One keep-alive connection with at most one request out.
 *
 * - Every request has one outcome: a response, or `lost` when the connection ends or is out of
 *   sync before it.
 * - All sockets read into one buffer: each read is consumed before the next one.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { createMessageReader } from './http_message.js'

export type Address = Readonly<{ host: string; port: number }>

export interface HttpResponse {
  readonly status: number
  /** Valid until the next read of the socket. */
  readonly body: Buffer
}

export interface HttpSocketEvents {
  readonly answered: (response: HttpResponse) => void
  /** The connection ended, with or without a request in flight. */
  readonly lost: (reason: string) => void
}

export type HttpSocket = Awaited<ReturnType<typeof openHttpSocket>>

const STATUS_LINE = /^HTTP\/1\.1 ([0-9]{3}) /
const INCOMING = Buffer.allocUnsafe(64 * 1024)

export async function openHttpSocket(address: Address, { answered, lost }: HttpSocketEvents) {
  const read = createMessageReader(STATUS_LINE)
  let isOpen = true
  const close = (): void => {
    isOpen = false
    socket.destroy()
  }
  const lose = (reason: string): void => {
    if (!isOpen) return
    close()
    lost(reason)
  }
  const callback = (bytes: number): boolean => {
    const reading = read(INCOMING.subarray(0, bytes))
    if (reading === 'unreadable') lose('unreadable_answer')
    else if (reading !== 'incomplete' && isOpen)
      answered({ status: Number(reading.first[1]), body: reading.body })
    return true
  }
  const socket = connect({ ...address, noDelay: true, onread: { buffer: INCOMING, callback } })
  await once(socket, 'connect')
  socket.on('error', () => lose('connection_lost'))
  socket.on('close', () => lose('connection_lost'))
  return {
    send: (request: Buffer): void => void socket.write(request),
    /** No event follows. */
    close,
  }
}
