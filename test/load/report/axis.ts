/**
 * Axes of plots: from figures to places, and which figures stand beside them.
 *
 * - Ticks are round: 1, 2 or 5 times a power of ten on a linear axis, powers of ten on a
 *   logarithmic one.
 */

export interface Tick {
  readonly value: number
  readonly label: string
}

export interface Axis {
  readonly ticks: readonly Tick[]
  /** Of the axis' length, from 0 to 1; what lies outside of it is put at its end. */
  place(value: number): number
}

const STEPS = [1, 2, 5, 10]

/** From 0 to a round figure that is not less than `max`. */
export function linear(max: number, wanted = 5): Axis {
  const step = roundStep((max > 0 ? max : 1) / wanted)
  const end = Math.max(step, Math.ceil(max / step - 1e-9) * step)
  const count = Math.round(end / step)
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => tick(i * step)),
    place: (value) => within(value / end),
  }
}

/** Time from 0 to `maxMs`; not rounded up, as nothing comes after it. */
export function time(maxMs: number, wanted = 6): Axis {
  const [unit, ms] = maxMs > 300_000 ? (['min', 60_000] as const) : (['s', 1_000] as const)
  const step = roundStep(maxMs / ms / wanted)
  const count = Math.floor(maxMs / ms / step + 1e-9)
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => ({
      value: i * step * ms,
      label: `${plain(i * step)} ${unit}`,
    })),
    place: (value) => within(value / maxMs),
  }
}

/** Over whole powers of ten. */
export function logarithmic(min: number, max: number): Axis {
  const from = Math.floor(Math.log10(min > 0 ? min : 0.1))
  const to = Math.max(from + 1, Math.ceil(Math.log10(max > 0 ? max : 1)))
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, i) => tick(10 ** (from + i))),
    place: (value) => within((Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)),
  }
}

/** Shares of requests in per cent, each further nine as wide as the one before. */
export function nines(max: number): Axis {
  const depth = (percentile: number): number => -Math.log10(1 - Math.min(percentile, 99.999) / 100)
  const end = Math.max(depth(90), depth(max))
  return {
    ticks: [0, 50, 90, 99, 99.9, 99.99]
      .filter((percentile) => depth(percentile) <= end + 1e-9)
      .map((percentile) => ({ value: percentile, label: `${percentile} %` })),
    place: (value) => within(depth(value) / end),
  }
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * (STEPS.find((step) => step * power >= rough * 0.999) ?? 10)
}

const within = (share: number): number => Math.min(1, Math.max(0, share))
const tick = (value: number): Tick => ({ value, label: plain(value) })

const plain = (value: number): string =>
  Number(value.toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 6 })
