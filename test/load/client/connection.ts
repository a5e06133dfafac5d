/**
 * One keep-alive connection with at most one request out.
 *
 * Owns: the socket. Does not own: which request is sent when (load).
 *
 * - Every request has one outcome: an answer, or `lost` when the connection ends or gets out of
 *   step before it.
 * - All connections read into one piece of memory: each read is used up before the next one
 *   happens.
 */
import { connect as connectSocket, type Socket } from 'node:net'
import { createAnswerReader, type Answer } from './answer_reader.js'

export interface Connection {
  send(request: Buffer): void
  /** Nothing is heard of it afterwards. */
  close(): void
}

export interface ConnectionEvents {
  readonly answered: (answer: Answer) => void
  /** The connection is of no more use, whether a request was out or not. */
  readonly lost: (reason: string) => void
}

const INCOMING = Buffer.allocUnsafe(64 * 1024)

export function connect(
  address: { readonly host: string; readonly port: number },
  events: ConnectionEvents,
): Promise<Connection> {
  const reader = createAnswerReader()
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
    else events.answered(reading)
  }
  const socket: Socket = connectSocket({
    ...address,
    noDelay: true,
    onread: {
      buffer: INCOMING,
      callback: (bytes) => {
        read(INCOMING.subarray(0, bytes))
        return true
      },
    },
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => lose('connection_lost'))
      socket.on('close', () => lose('connection_lost'))
      resolve({
        send: (request) => socket.write(request),
        close: () => {
          lost = true
          socket.destroy()
        },
      })
    })
  })
}
