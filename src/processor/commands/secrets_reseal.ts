/**
 * Seals a slice of all that is sealed anew, with the first master key.
 *
 * R1. Each slice is a command of its own. What is sealed with the first key already stays as it
 *     is, so a walk may be broken off and begun again.
 * R2. Only what is sealed changes: no actor moves, nothing is published or sent.
 * R3. The last slice notes that the other master keys are empty: everything has been looked at
 *     since this one seals, and nothing was sealed with another one meanwhile.
 */
import type { EndpointId, KeyId } from '../../base/ids.js'
import type { SealedTable } from '../../store/sealed.js'
import { stagePayout } from '../changes/advance_payout.js'
import { stageIntent } from '../changes/advance_intent.js'
import type { Command, Desk } from '../cycle/command.js'
import { stageEndpoint, stageKey } from '../changes/directory.js'
import { answer } from '../cycle/answer.js'
import { masterKeyViews } from '../keys/master_key_view.js'
import type { Needs } from '../cycle/needs.js'
import { logAction, type Actor } from '../changes/operator_log.js'
import { beneficiaryAccountPlace, intentAccountPlace } from '../changes/orders.js'
import type { SealedSlice } from '../queries/sealed_slice.js'
import { stageBeneficiary } from '../changes/beneficiaries.js'

export function resealSecrets(actor: Actor, slice: SealedSlice): Command {
  return {
    name: 'reseal_secrets',
    needs: (needs) => {
      for (const id of slice.ids) need(needs, slice.table, id)
    },
    decide: (desk) => {
      const kid = desk.vault.sealingKid
      if (slice.isFirst) logAction(desk, actor, 'reencrypt_begun', kid)
      for (const id of slice.ids) reseal[slice.table](desk, id)
      if (slice.nextCursor === undefined) {
        emptyOthers(desk)
        logAction(desk, actor, 'reencrypt_done', kid)
      }
      return answer(sliceView(desk, slice))
    },
  }
}

/** Only counts. */
export function countSealed(slice: SealedSlice): Command {
  return {
    name: 'count_sealed',
    needs: () => undefined,
    decide: (desk) => answer(sliceView(desk, slice)),
  }
}

function sliceView({ memory, vault }: Desk, { counts, nextCursor }: SealedSlice): object {
  const found = [...counts].map(([kid, sealed]) => ({ kid, sealed }))
  if (nextCursor !== undefined) return { found, keys: [], next_cursor: nextCursor }
  return { found, keys: masterKeyViews(memory, vault) }
}

function need(needs: Needs, table: SealedTable, id: string): void {
  if (table === 'beneficiaries') needs.beneficiary(id)
  if (table === 'payouts') needs.payout(id)
  if (table === 'intents') needs.intent(id)
}

/** How a row of each table is sealed anew. Staging seals the secrets that memory holds in clear. */
const reseal: Readonly<Record<SealedTable, (desk: Desk, id: string) => void>> = {
  signing_keys: (desk, id) => stageKey(desk, desk.memory.keys.get(id as KeyId)!),
  webhook_endpoints: (desk, id) =>
    stageEndpoint(desk, desk.memory.endpoints.get(id as EndpointId)!),
  beneficiaries: (desk, id) => {
    const row = desk.memory.beneficiaries.get(id)!
    const sealed_account = desk.vault.resealAccount(row.sealed_account, beneficiaryAccountPlace(id))
    stageBeneficiary(desk, { ...row, sealed_account })
  },
  payouts: (desk, id) => {
    const live = desk.memory.payouts.get(id)!
    const { beneficiary } = live.context
    const place = beneficiaryAccountPlace(beneficiary.id)
    const sealedAccount = desk.vault.resealAccount(beneficiary.sealedAccount, place)
    const context = { ...live.context, beneficiary: { ...beneficiary, sealedAccount } }
    desk.memory.payoutHost.amend(live, context)
    stagePayout(desk, live)
  },
  intents: (desk, id) => {
    const live = desk.memory.intents.get(id)!
    const scanned = live.context.scanned!
    const { destination } = scanned
    const place = intentAccountPlace(live.context.id)
    const sealedAccount = desk.vault.resealAccount(destination.sealedAccount, place)
    const amended = { ...scanned, destination: { ...destination, sealedAccount } }
    desk.memory.intentHost.amend(live, { ...live.context, scanned: amended })
    stageIntent(desk, live)
  },
}

function emptyOthers({ memory, group, now, vault }: Desk): void {
  for (const row of memory.masterKeys.values()) {
    if (row.kid === vault.sealingKid || row.emptied_at !== null) continue
    const emptied = { ...row, emptied_at: now }
    memory.masterKeys.set(row.kid, emptied)
    group.stage('masterKeys', row.kid, emptied)
  }
}
