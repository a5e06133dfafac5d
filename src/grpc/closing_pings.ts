/**
 * Keep-alive pings on connections that are closing.
 *
 * Node sends none there, and grpc-js takes that for a dead peer: it destroyed the connection under
 * the calls that a server still answers while it stops. Such a ping counts as answered for some
 * seconds, so a peer that is lost while it closes is noticed after them.
 */
import { connect, type Http2Session } from 'node:http2'
import { Duplex } from 'node:stream'
import { SECOND } from '../base/clock.js'

/** Longer than a server of ours takes to close. */
const CLOSING_WITHIN_MS = 10 * SECOND

type Answered = (error: Error | null, duration: number, payload: Buffer) => void
/** @param given a callback, after a payload or alone */
type Ping = (this: Http2Session, ...given: unknown[]) => boolean

/** When the first ping came after the connection began to close. */
const closingSince = new WeakMap<Http2Session, number>()
let withinMs = CLOSING_WITHIN_MS
let isDone = false

/** For all connections of this process. */
export function answerClosingPings(closingWithinMs = CLOSING_WITHIN_MS): void {
  withinMs = closingWithinMs
  if (isDone) return
  isDone = true
  const prototype = sessionPrototype()
  const { ping } = prototype
  prototype.ping = function (...given) {
    if (!this.closed || this.destroyed || isOverdue(this)) return ping.apply(this, given)
    setImmediate(given.at(-1) as Answered, null, 0, Buffer.alloc(0))
    return true
  }
}

function isOverdue(session: Http2Session): boolean {
  const now = performance.now()
  const since = closingSince.get(session) ?? now
  closingSince.set(session, since)
  return now - since >= withinMs
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
