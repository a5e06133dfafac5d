/** The rows that a batch of commands needs and that are not in memory yet. */
import { payoutContextIn } from '../../../actors/payout/context.js'
import { intentContextIn } from '../../../actors/intent/context.js'
import type { Found, Wanted } from '../../store/store.js'
import { asInteger, fingerprintOf } from '../cache/idempotency_index.js'
import { restored } from '../cache/live_actor.js'
import { depositsIn } from '../cache/deposit_sums.js'
import type { Memory } from '../cache/memory.js'
import type { WriteBackCache } from '../cache/row_cache.js'

export interface Needs {
  intent(id: string): void
  payout(id: string): void
  beneficiary(id: string): void
  idempotency(key: string): void
  usage(key: string): void
  fxQuote(id: string): void
  discrepancy(id: string): void
  deposit(id: string): void
}

export interface NeedsOfBatch extends Needs {
  /** How many times a row was named that is not in memory. */
  missing(): number
  wanted(): Wanted
  /** Fills the caches with the loaded rows, and with negative entries for the missing ones. */
  fill(found: Found): void
}

export function createNeeds(memory: Memory): NeedsOfBatch {
  const intents = new Set<string>()
  const payouts = new Set<string>()
  const beneficiaries = new Set<string>()
  /** Candidate row sequences of each key. */
  const idempotency = new Map<string, readonly number[]>()
  /** Fingerprints of those among them that may be in the index of older keys. */
  const indexedKeys: bigint[] = []
  const usage = new Set<string>()
  const fxQuotes = new Set<string>()
  const discrepancies = new Set<string>()
  const deposits = new Set<string>()
  let missing = 0
  const naming =
    (cache: WriteBackCache<unknown>, keys: Set<string>) =>
    (key: string): void => {
      if (cache.get(key) !== undefined) return
      keys.add(key)
      missing += 1
    }
  return {
    intent: naming(memory.intents, intents),
    payout: naming(memory.payouts, payouts),
    beneficiary: naming(memory.beneficiaries, beneficiaries),
    idempotency: (key) => {
      if (memory.idempotency.get(key) !== undefined) return
      const fingerprint = fingerprintOf(key)
      const candidates = memory.keyIndex.candidates(fingerprint)
      const mayBeIndexed = memory.keyIndex.mayBeIndexed(fingerprint)
      if (mayBeIndexed) indexedKeys.push(asInteger(fingerprint))
      if (!mayBeIndexed && candidates.length === 0) return
      idempotency.set(key, candidates)
      missing += 1
    },
    usage: naming(memory.usage, usage),
    fxQuote: naming(memory.fxQuotes, fxQuotes),
    discrepancy: naming(memory.discrepancies, discrepancies),
    deposit: naming(memory.deposits, deposits),
    missing: () => missing,
    wanted: () => ({
      intents: [...intents],
      payouts: [...payouts],
      beneficiaries: [...beneficiaries],
      idempotency: [...idempotency.values()].flat(),
      indexedKeys,
      usage: [...usage],
      fxQuotes: [...fxQuotes],
      discrepancies: [...discrepancies],
      deposits: [...deposits],
    }),
    fill: (found) => {
      for (const row of found.intents) {
        memory.intents.fill(row.id, restored(row, intentContextIn))
      }
      for (const row of found.payouts) {
        memory.payouts.fill(row.id, restored(row, payoutContextIn))
      }
      for (const row of found.beneficiaries) memory.beneficiaries.fill(row.id, row)
      for (const row of found.idempotency) {
        if (idempotency.has(row.key)) memory.idempotency.fill(row.key, row)
      }
      for (const row of found.usage) memory.usage.fill(row.key, BigInt(row.used))
      for (const row of found.fxQuotes) memory.fxQuotes.fill(row.id, row)
      for (const row of found.discrepancies) memory.discrepancies.fill(row.id, row)
      for (const [id, sums] of depositsIn(found.deposits)) memory.deposits.fill(id, sums)
      for (const id of intents) memory.intents.fill(id, null)
      for (const id of payouts) memory.payouts.fill(id, null)
      for (const id of beneficiaries) memory.beneficiaries.fill(id, null)
      for (const key of idempotency.keys()) memory.idempotency.fill(key, null)
      for (const key of usage) memory.usage.fill(key, null)
      for (const id of fxQuotes) memory.fxQuotes.fill(id, null)
      for (const id of discrepancies) memory.discrepancies.fill(id, null)
      for (const id of deposits) memory.deposits.fill(id, null)
    },
  }
}
