/**
 * The pipeline behind a screening service: a command that is screened is looked at, asked about and
 * then decided, with the answer as one of its inputs.
 *
 * Owns: when the service is asked, and in which order. Does not own: the call (src/screening), what
 * to ask and what an answer means (the commands).
 *
 * - Nothing waits in the cycle: the look is a command that changes nothing, the service is asked
 *   between two commands, and all other commands pass.
 * - The look finds what needs no answer: a known idempotency key, a refusal. The nonce is consumed
 *   with the decision only, so a request is authenticated and refused as without a service.
 * - Requests with the same order go through one after the other: a repeated request finds the key
 *   that the first one bound, and is not asked about again.
 * - A command that comes without its question counts as not asked about, never as one without a
 *   service: what needs a decision is refused.
 * - At most SCREENED_MAX requests are in here, of each tenant as many as it leaves free; a further
 *   one is refused like one at a full queue. So one tenant cannot take all slots while the service
 *   is slow.
 */
import { createFairShare } from '../../base/fair_share.js'
import type { Outcome, Screening } from '../../screening/screening.js'
import { refuse } from './answer.js'
import type { Command, QueueKey, Screened, ScreenRequest, Verdict, Work } from './command.js'
import type { Pipeline } from './pipeline.js'

/** Half of it is for one tenant. */
export const SCREENED_MAX = 2_000

/** Takes measurements, in milliseconds. `full`: refused without a question. */
export interface ScreeningMeter {
  /** Milliseconds on a clock that is never set back. */
  now(): number
  screened(purpose: string, outcome: Outcome | 'full', ms: number): void
}

export type ScreenedPipeline = Pick<Pipeline, 'submit' | 'idle'>

export function createScreenedPipeline(
  pipeline: ScreenedPipeline,
  service: Screening,
  meter: ScreeningMeter,
): ScreenedPipeline {
  /** The last request of each order. */
  const last = new Map<string, Promise<void>>()
  const open = createFairShare<QueueKey>(SCREENED_MAX)
  const emptyWaiters: (() => void)[] = []

  const submit = (work: Work): void => {
    const { screened } = work.command
    work.screening = null
    if (screened === undefined) return pipeline.submit(work)
    const { queueKey } = work
    if (!open.mayTake(queueKey)) {
      meter.screened(screened.purpose, 'full', 0)
      return work.reply(refuse('configuration_error'))
    }
    open.take(queueKey)
    const { order } = screened
    const done = screen(work, screened, last.get(order)).then(() => {
      open.release(queueKey)
      if (last.get(order) === done) last.delete(order)
      if (open.held > 0) return
      for (const resolve of emptyWaiters.splice(0)) resolve()
    })
    last.set(order, done)
  }

  const screen = async (
    work: Work,
    screened: Screened,
    before: Promise<void> | undefined,
  ): Promise<void> => {
    await before
    const request = await look(work, screened)
    work.screening =
      request === null ? null : { id: request.id ?? '', verdict: verdictOf(await ask(request)) }
    pipeline.submit(work)
  }

  const look = (work: Work, screened: Screened): Promise<ScreenRequest | null> =>
    new Promise((resolve) => {
      const { queueKey, origin, deadline, command } = work
      pipeline.submit({
        ...{ queueKey, origin, deadline, signedBy: null },
        command: lookOf(command, screened),
        reply: (answer) => resolve(answer.ok ? (answer.view as Looked).request : null),
      })
    })

  const ask = async (request: ScreenRequest): Promise<Outcome> => {
    const began = meter.now()
    const outcome = await service.ask(request)
    meter.screened(request.purpose ?? '', outcome, meter.now() - began)
    return outcome
  }

  return {
    submit,
    idle: async () => {
      if (open.held > 0) await new Promise<void>((resolve) => void emptyWaiters.push(resolve))
      await pipeline.idle()
    },
  }
}

interface Looked {
  readonly request: ScreenRequest | null
}

const lookOf = ({ name, needs }: Command, screened: Screened): Command => ({
  name,
  needs,
  decide: (ctx) => {
    const looked: Looked = { request: screened.request(ctx) }
    return { ok: true, view: looked }
  },
})

function verdictOf(outcome: Outcome): Verdict {
  switch (outcome) {
    case 'late':
    case 'error':
    case 'malformed':
      return 'unavailable'
    case 'pass':
    case 'compliance_rejected':
    case 'risk_rejected':
      return outcome
  }
}
