/**
 * An adapter whose bank is elsewhere: the bank's four functions behind the rail's contract.
 *
 * - The bank's messages are taken only when the journal is open; each is on disk when its promise
 *   resolves.
 */
import type { EffectId } from '../../base/ids.js'
import type { Bank, BankOutcome } from './bank.js'
import { createBankCalls } from './bank_calls.js'
import { createBankRules } from './bank_rules.js'
import { startAdapter, type Adapter, type AdapterOptions } from './server.js'

export interface BankAdapterOptions extends Omit<AdapterOptions, 'name' | 'rules'> {
  readonly bank: Bank
}

export async function startBankAdapter({ bank, ...served }: BankAdapterOptions): Promise<Adapter> {
  const { clock, log } = served
  const calls = createBankCalls({ bank, clock, log, learn })
  const rules = createBankRules({
    ...{ finalityWindowMs: bank.finalityWindowMs, log, startedAt: clock.now() },
    ...{ submittedAt: calls.submittedAt, call: calls.call },
  })
  const early: (() => void)[] = []
  let adapter: Adapter | undefined = undefined
  adapter = await startAdapter({ ...served, name: bank.name, rules })
  for (const begin of early) begin()
  await bank.listen(learn)
  return { ...adapter, close }

  /** A due step can call the bank before the server listens. */
  async function learn(id: EffectId, outcome: BankOutcome): Promise<void> {
    if (adapter === undefined) await new Promise<void>((begin) => early.push(begin))
    if (outcome.kind !== 'accepted' && outcome.kind !== 'not_found') calls.ended(id)
    await adapter?.learn(id, outcome)
  }

  function close(): Promise<void> {
    calls.stop()
    return adapter?.close() ?? Promise.resolve()
  }
}
