/** Periods and moments in operators' requests, in epoch milliseconds. */
import { instant, toRfc3339 } from '../../base/clock.js'

const LAST_INSTANT = 8_640_000_000_000_000

export interface RequestedPeriod {
  readonly from: number
  readonly to: number
  /** For the log of actions. */
  readonly name: string
}

/** Null unless it is a moment. */
export function momentOf(text: string): number | null {
  const at = Number(text)
  return at >= 0 && at <= LAST_INSTANT ? at : null
}

/** Null unless the period ends after its beginning. */
export function periodOf({
  from,
  to,
}: {
  readonly from: string
  readonly to: string
}): RequestedPeriod | null {
  const [first, end] = [momentOf(from), momentOf(to)]
  if (first === null || end === null || end <= first) return null
  const name = `${toRfc3339(instant(first))} to ${toRfc3339(instant(end))}`
  return { from: first, to: end, name }
}
