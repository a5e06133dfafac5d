/** The ids of due timers in their order. */
import type { Instant } from '../../src/base/clock.js'
import type { Store, TimerKind } from '../../src/store/store.js'

export async function dueIds(
  store: Pick<Store, 'due'>,
  kind: TimerKind,
  now: Instant,
  limit: number,
): Promise<readonly string[]> {
  return (await store.due(kind, now, limit)).map(({ id }) => id)
}
