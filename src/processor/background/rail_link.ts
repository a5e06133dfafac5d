/**
 * The rail port with the duration of its current outage, and a stop of submissions.
 *
 * - While submissions are stopped the link counts as down, and an instruction that was decided
 *   before is dropped: its outcome is unknown, so it is inquired about later. Reports are applied.
 */
import type { Clock, Instant } from '../../base/clock.js'
import type { Rail } from '../../rails/rail.js'

export interface RailLink extends Rail {
  /** Milliseconds since the link was lost or submissions were stopped; 0 while it is up. */
  downForMs(): number
}

/** @param stoppedSince null if submissions are not stopped */
export function createRailLink(
  rail: Rail,
  clock: Clock,
  stoppedSince: () => Instant | null,
): RailLink {
  let downSince: Instant | null = rail.up() ? null : clock.now()
  rail.onLink((up) => {
    downSince = up ? null : (downSince ?? clock.now())
  })
  return {
    ...rail,
    up: () => rail.up() && stoppedSince() === null,
    send: (railInstructions) => {
      if (stoppedSince() === null) return rail.send(railInstructions)
      const sent = railInstructions.filter(({ kind }) => kind !== 'instruct')
      if (sent.length > 0) rail.send(sent)
    },
    downForMs: () => {
      const since = downSince ?? stoppedSince()
      return since === null ? 0 : clock.now() - since
    },
  }
}
