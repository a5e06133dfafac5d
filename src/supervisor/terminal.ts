/**
 * What the person who started the stack reads.
 *
 * Owns: the form of its lines. Does not own: logs, which are JSON in files (log_file).
 */
import { SECOND, type Clock } from '../base/clock.js'

export interface Terminal {
  say(line: string): void
  /** A process came up: its name, where it is, how long after the start of all. */
  up(name: string, where: string): void
  trouble(line: string): void
}

const NAME_WIDTH = 12
const WHERE_WIDTH = 40

export function createTerminal(clock: Clock): Terminal {
  const startedAt = clock.now()
  const elapsed = (): string => `${((clock.now() - startedAt) / SECOND).toFixed(1)} s`
  return {
    say: (line) => console.log(line),
    up: (name, where) =>
      console.log(`  ${name.padEnd(NAME_WIDTH)}${where.padEnd(WHERE_WIDTH)}${elapsed()}`),
    trouble: (line) => console.error(line),
  }
}
