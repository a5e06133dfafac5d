/**
 * The addresses of the processors: the configured ones, and those that the processors name.
 *
 * - An address that is no longer named is kept for KEEP_MS: a processor that restarts is not named
 *   meanwhile.
 */
import { MINUTE } from '../../src/base/clock.js'

const KEEP_MS = MINUTE

export interface KnownAddresses {
  configure(addresses: readonly string[]): void
  /** Replaces what the processors named before. */
  name(addresses: readonly string[]): void
  all(): ReadonlySet<string>
  close(): void
}

/**
 * @param after calls back after a time; @returns cancels the call
 * @param changed called after each change
 */
export function createKnownAddresses(
  after: (ms: number, call: () => void) => () => void,
  changed: () => void,
): KnownAddresses {
  let configured: readonly string[] = []
  let named: readonly string[] = []
  /** No longer named, with what cancels the end of each. */
  const leaving = new Map<string, () => void>()

  const leave = (address: string): void => {
    const forget = (): void => {
      leaving.delete(address)
      changed()
    }
    leaving.set(address, after(KEEP_MS, forget))
  }

  return {
    configure: (addresses) => {
      configured = addresses
      changed()
    },
    name: (addresses) => {
      for (const address of named) if (!addresses.includes(address)) leave(address)
      for (const address of addresses) {
        leaving.get(address)?.()
        leaving.delete(address)
      }
      named = addresses
      changed()
    },
    all: () => new Set([...configured, ...named, ...leaving.keys()]),
    close: () => {
      for (const cancel of leaving.values()) cancel()
    },
  }
}
