/** Holds the calls of all clients back while nothing may be acknowledged. */
import { throughEachCall } from '../support/each_call.js'
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'

export interface Gate {
  /** Makes a call when the gate is open. */
  pass<T>(call: () => Promise<T>): Promise<T>
  /** The same partner; its calls pass the gate. */
  around(partner: Partner): Partner
  /** Resolves when no call is in progress. */
  close(): Promise<void>
  open(): void
}

const ENDED_WITHIN_MS = 30_000

export function createGate(): Gate {
  let opened: Promise<void> | undefined
  let open: () => void = () => undefined
  let inProgress = 0
  const pass = async <T>(call: () => Promise<T>): Promise<T> => {
    while (opened !== undefined) await opened
    inProgress += 1
    return call().finally(() => (inProgress -= 1))
  }
  return {
    pass,
    around: (partner) => throughEachCall(partner, pass),
    close: async () => {
      opened ??= new Promise((resolve) => (open = resolve))
      await eventually('calls have ended', () => inProgress === 0, ENDED_WITHIN_MS)
    },
    open: () => {
      opened = undefined
      open()
    },
  }
}
