/** The rail port with the duration of its current outage. */
import type { Clock, Instant } from '../../base/clock.js'
import type { Rail } from '../../rails/rail.js'

export interface RailLink extends Rail {
  /** Milliseconds since the link was lost; 0 while it is up. */
  downForMs(): number
}

export function createRailLink(rail: Rail, clock: Clock): RailLink {
  let downSince: Instant | null = rail.up() ? null : clock.now()
  rail.onLink((up) => {
    downSince = up ? null : (downSince ?? clock.now())
  })
  return { ...rail, downForMs: () => (downSince === null ? 0 : clock.now() - downSince) }
}
