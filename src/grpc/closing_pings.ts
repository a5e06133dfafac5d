/**
 * Keep-alive pings on connections that are closing.
 *
 * Node sends none there, and grpc-js takes that for a dead peer: it destroyed the connection under
 * the calls that a server still answers while it stops. Such a ping counts as answered, which is
 * safe as closing has a time limit of its own.
 */
import { connect, type Http2Session } from 'node:http2'
import { Duplex } from 'node:stream'

type Answered = (error: Error | null, duration: number, payload: Buffer) => void
/** @param given a callback, after a payload or alone */
type Ping = (this: Http2Session, ...given: unknown[]) => boolean

let isDone = false

/** For all connections of this process. */
export function answerClosingPings(): void {
  if (isDone) return
  isDone = true
  const prototype = sessionPrototype()
  const { ping } = prototype
  prototype.ping = function (...given) {
    if (!this.closed || this.destroyed) return ping.apply(this, given)
    setImmediate(given.at(-1) as Answered, null, 0, Buffer.alloc(0))
    return true
  }
}

/** Node does not export it. */
function sessionPrototype(): { ping: Ping } {
  const createConnection = (): Duplex =>
    new Duplex({ read: () => undefined, write: (_chunk, _encoding, written) => written() })
  const session = connect('http://localhost', { createConnection })
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf(session)) as { ping: Ping }
  session.destroy()
  return prototype
}
