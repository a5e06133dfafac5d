/**
 * The rows a batch of commands asks for. What memory holds already is not asked for again.
 */
import type { Found, Wanted } from '../store/store.js'
import type { Memory } from './memory.js'

export interface Needs {
  intent(id: string): void
  payout(id: string): void
  beneficiary(id: string): void
  idempotency(key: string): void
  usage(key: string): void
}

export interface NeedsOfBatch extends Needs {
  isEmpty(): boolean
  wanted(): Wanted
}

export function createNeeds(memory: Memory): NeedsOfBatch {
  const intents = new Set<string>()
  const payouts = new Set<string>()
  const beneficiaries = new Set<string>()
  const idempotency = new Set<string>()
  const usage = new Set<string>()
  const all = [intents, payouts, beneficiaries, idempotency, usage]
  return {
    intent: (id) => void (memory.intents.get(id) === undefined && intents.add(id)),
    payout: (id) => void (memory.payouts.get(id) === undefined && payouts.add(id)),
    beneficiary: (id) => void (memory.beneficiaries.get(id) === undefined && beneficiaries.add(id)),
    idempotency: (key) => void (memory.idempotency.get(key) === undefined && idempotency.add(key)),
    usage: (key) => void (memory.usage.get(key) === undefined && usage.add(key)),
    isEmpty: () => all.every((keys) => keys.size === 0),
    wanted: () => ({
      intents: [...intents],
      payouts: [...payouts],
      beneficiaries: [...beneficiaries],
      idempotency: [...idempotency],
      usage: [...usage],
    }),
  }
}

/** Puts what was found on the shelves, and that the rest does not exist. */
export function learn(memory: Memory, wanted: Wanted, found: Found): void {
  for (const row of found.intents) {
    memory.intents.learn(row.id, memory.intentHost.restore(row.state, row.context))
  }
  for (const row of found.payouts) {
    memory.payouts.learn(row.id, memory.payoutHost.restore(row.state, row.context))
  }
  for (const row of found.beneficiaries) memory.beneficiaries.learn(row.id, row)
  for (const row of found.idempotency) memory.idempotency.learn(row.key, row)
  for (const row of found.usage) memory.usage.learn(row.key, BigInt(row.used))
  for (const id of wanted.intents) memory.intents.learn(id, null)
  for (const id of wanted.payouts) memory.payouts.learn(id, null)
  for (const id of wanted.beneficiaries) memory.beneficiaries.learn(id, null)
  for (const key of wanted.idempotency) memory.idempotency.learn(key, null)
  for (const key of wanted.usage) memory.usage.learn(key, null)
}
