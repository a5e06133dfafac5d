/**
 * The trace of a payment: kept with it, so that timers, reports of the rail and later requests
 * belong to the trace of the first request that had one.
 */
import type { LiveIntent, LivePayout } from '../cache/memory.js'
import type { CommandContext } from '../cycle/command.js'

/** Called before a command changes the payment: what it causes belongs to the payment's trace. */
export function joinTrace(ctx: CommandContext, { context }: LiveIntent | LivePayout): void {
  if (context.traceparent !== undefined) ctx.joinTrace?.(context.traceparent)
}

/** Called with the changed payment: it keeps the first trace that it has. */
export function keepTrace({ origin }: CommandContext, live: LiveIntent | LivePayout): void {
  const { traceparent } = origin
  if (traceparent === undefined || live.context.traceparent !== undefined) return
  live.context = { ...live.context, traceparent }
}
