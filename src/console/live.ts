/**
 * Server-sent events: a part of a page is made again while the page is open, and sent when it has
 * changed.
 *
 * - A stream ends with its session, and with the browser's page.
 */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { SECOND } from '../base/clock.js'
import type { Html } from './html/html.js'

const EVERY_MS = 2 * SECOND
const STREAMS_MAX = 100
let open = 0

const END = { event: 'end', data: '' }

/** For a page whose session is over: a browser tells its script nothing of a refusal. */
export const endedStream = (c: Context) => streamSSE(c, (stream) => stream.writeSSE(END))

/** @param render gives undefined if the view cannot be made now, null if the session is over */
export function liveStream(c: Context, render: () => Promise<Html | null | undefined>) {
  if (open >= STREAMS_MAX) return c.text('too many pages are open\n', 503)
  return streamSSE(c, async (stream) => {
    open += 1
    let sent: string | undefined
    try {
      while (!stream.aborted) {
        const made = await render()
        if (made === null) return await stream.writeSSE(END)
        const state = made === undefined ? 'stale' : 'fresh'
        await stream.writeSSE({ event: 'state', data: state })
        const text = made === undefined ? sent : String(made)
        if (text !== undefined && text !== sent)
          await stream.writeSSE({ event: 'part', data: text })
        sent = text
        await stream.sleep(EVERY_MS)
      }
    } finally {
      open -= 1
    }
  })
}
