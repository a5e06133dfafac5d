/**
 * Orphan executions in decisions: matching a payment to one, and staging one.
 *
 * Owns: the matching rule, the keyed digest of a destination, the view for operators. Does not own:
 * adding and resolving them (operators/orphan_add, operators/orphan_resolve), what a held payment
 * waits for (actors).
 *
 * - A payment matches when environment, kind, destination, amount, currency and reference are
 *   equal. A member missing from the rail's statement matches any value: one payment too many is
 *   held rather than one paid twice.
 * - No row holds the plain account number, only its keyed digest and its last four digits.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { environmentOf, type TenantId } from '../../base/ids.js'
import { toWire } from '../../money/money.js'
import type { Instruction, Purpose } from '../../rails/rail.js'
import type { CommandContext } from '../cycle/command.js'
import type { Vault } from '../keys/vault.js'
import type { Orphan } from '../cache/orphan_index.js'

export interface Details {
  readonly purpose: Purpose
  /** The destination's account number in plain text. */
  readonly account: string
  /** See `statementReference`. */
  readonly reference: string
}

/** An open orphan execution that may be this payment; undefined when there is none. */
export function orphanEqualTo(
  { memory, vault }: CommandContext,
  tenant: TenantId,
  { currency, amount }: Pick<Instruction, 'currency' | 'amount'>,
  detailsOf: () => Details,
): Orphan | undefined {
  const candidates = memory.orphans.openOf(currency, amount)
  if (candidates.length === 0) return undefined
  const { purpose, account, reference } = detailsOf()
  const wanted = {
    environment: environmentOf(tenant),
    purpose,
    destination: destinationDigest(vault, account),
    reference,
  }
  return candidates.find(
    (orphan) =>
      isEqual(orphan.environment, wanted.environment) &&
      isEqual(orphan.purpose, wanted.purpose) &&
      isEqual(orphan.destination, wanted.destination) &&
      isEqual(orphan.reference, wanted.reference),
  )
}

const isEqual = (reported: string | null, wanted: string): boolean =>
  reported === null || reported === wanted

/** Ignores blanks, hyphens and case, which differ between writings of an account number. */
export const destinationDigest = (vault: Vault, account: string): string =>
  vault.digest(`orphan destination ${account.replace(/[\s-]/g, '').toUpperCase()}`)

export function stageOrphan({ memory, batch }: CommandContext, orphan: Orphan): void {
  memory.orphans.set(orphan)
  batch.stage('orphans', orphan.instruction, orphan)
}

/** As operators see it. */
export function orphanView(orphan: Orphan): object {
  return {
    instruction_id: orphan.instruction,
    environment: orphan.environment,
    purpose: orphan.purpose,
    account_last4: orphan.account_last4,
    amount: toWire(orphan.amount),
    currency: orphan.currency,
    reference: orphan.reference,
    transaction_id: orphan.transaction_id,
    executed_at: toRfc3339(instant(orphan.executed_at)),
    status: orphan.status,
    matched_to: orphan.matched_to,
    resolved_at: orphan.resolved_at === null ? null : toRfc3339(instant(orphan.resolved_at)),
  }
}
