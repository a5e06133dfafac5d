/**
 * What the person who started the stack reads.
 *
 * Owns: the form of its lines. Does not own: logs, which are JSON in files (log_file).
 */
import { SECOND, type Clock } from '../base/clock.js'

export interface Terminal {
  say(line: string): void
  /** A process came up: its name, where it is, how long that took. */
  up(name: string, where: string): void
  trouble(line: string): void
}

const NAME_WIDTH = 12
const WHERE_WIDTH = 40

export function createTerminal(clock: Clock): Terminal {
  let last = clock.now()
  const sinceLast = (): string => {
    const now = clock.now()
    const seconds = (now - last) / SECOND
    last = now
    return `${seconds.toFixed(1)} s`
  }
  return {
    say: (line) => console.log(line),
    up: (name, where) =>
      console.log(`  ${name.padEnd(NAME_WIDTH)}${where.padEnd(WHERE_WIDTH)}${sinceLast()}`),
    trouble: (line) => console.error(line),
  }
}
