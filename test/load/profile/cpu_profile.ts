/**
 * A CPU profile as V8 writes it.
 *
 * Owns: its shape, and which time each sample stands for. Does not own: what the time was spent on
 * (attribution).
 *
 * - A sample stands for the time since the one before it, but for twice the interval at most. The
 *   rest is `unseen`: the thread had no core then, or the one that takes the samples had none.
 * - The times of all samples and what is unseen add up to the profile's own time.
 */

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  /** Microseconds of the machine's monotonic clock. */
  readonly startTime: number
  /** Ids of the nodes that were running. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** One function under one path of callers. */
export interface ProfileNode {
  readonly id: number
  readonly callFrame: Frame
  readonly children?: readonly number[]
}

export interface Frame {
  readonly functionName: string
  /** Empty for what was made at run time, and for the engine's own. */
  readonly url: string
  /** From 0. */
  readonly lineNumber: number
}

/** By the clock of `startTime`. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface SelfTimes {
  /** By node. */
  readonly micros: ReadonlyMap<number, number>
  readonly unseenMicros: number
}

/** Of the samples that were taken within the span. */
export function selfTimes(profile: CpuProfile, { from, to }: Span, everyMicros: number): SelfTimes {
  const micros = new Map<number, number>()
  let unseenMicros = 0
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    const delta = Math.max(0, profile.timeDeltas[index] ?? 0)
    at += delta
    if (at < from || at > to) continue
    const seen = Math.min(delta, 2 * everyMicros)
    micros.set(id, (micros.get(id) ?? 0) + seen)
    unseenMicros += delta - seen
  }
  return { micros, unseenMicros }
}
