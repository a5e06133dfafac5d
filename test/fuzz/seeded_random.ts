/** Seeded randomness: the same seed gives the same sequence. */
export interface SeededRandom {
  /** From 0 to `below` - 1. */
  int(below: number): number
  pick<T>(choices: readonly T[]): T
  /** True with probability 1/`of`. */
  once(of: number): boolean
}

/** mulberry32, seeded for each input with the run's seed and the input's index. */
export function createSeededRandom(seed: number, index: number): SeededRandom {
  let state = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const int = (below: number): number => Math.floor((next() / 2 ** 32) * below)
  return {
    int,
    pick: (choices) => {
      const chosen = choices[int(choices.length)]
      if (chosen === undefined) throw new Error('nothing to pick from')
      return chosen
    },
    once: (of) => int(of) === 0,
  }
}
