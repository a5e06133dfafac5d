/** Backpressure of a stream whose client has left is not awaited. */
import { EventEmitter } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import t from 'tap'
import { drained } from '../../src/processor/servers/drained.js'

const streamOf = (state: object) =>
  Object.assign(new EventEmitter(), { cancelled: false, destroyed: false }, state) as EventEmitter &
    ServerWritableStream<unknown, unknown>

t.test('it ends with the drain, the end of the call, and after either', async (t) => {
  for (const event of ['drain', 'cancelled', 'close']) {
    const stream = streamOf({})
    const waiting = drained(stream)
    stream.emit(event)
    await waiting
    t.equal(stream.eventNames().length, 0, `${event}: no listener is left`)
  }
  for (const state of [{ cancelled: true }, { destroyed: true }]) {
    await drained(streamOf(state))
    t.pass(JSON.stringify(state))
  }
})
