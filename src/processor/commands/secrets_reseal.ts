/**
 * Seals a slice of all that is sealed anew, with the first master key.
 *
 * R1. Each slice is a command of its own. What is sealed with the first key already stays as it
 *     is, so a walk may be broken off and begun again.
 * R2. Only what is sealed changes: no actor moves, nothing is published or sent.
 * R3. The last slice notes that the other master keys are empty: everything has been looked at
 *     since this one seals, and nothing was sealed with another one meanwhile.
 * R4. A corrupt row is named and left as it is. With one in the walk no key is noted as empty.
 */
import { CorruptRow } from '../../base/corrupt_row.js'
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
import { beneficiaryAccountPlace, intentAccountPlace, openedFor } from '../changes/orders.js'
import { cursorOf, type SealedSlice } from '../queries/sealed_slice.js'
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
      const corrupt = [...slice.corrupt, ...slice.ids.filter((id) => !isResealed(desk, slice, id))]
      if (slice.next === undefined) {
        const isWhole = corrupt.length === 0 && !slice.hadCorrupt
        if (isWhole) emptyOthers(desk)
        logAction(desk, actor, isWhole ? 'reencrypt_done' : 'reencrypt_done_but_corrupt', kid)
      }
      return answer(sliceView(desk, slice, corrupt))
    },
  }
}

/** Only counts. */
export function countSealed(slice: SealedSlice): Command {
  return {
    name: 'count_sealed',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (desk) => answer(sliceView(desk, slice, slice.corrupt)),
  }
}

function sliceView(
  { memory, vault }: Desk,
  slice: SealedSlice,
  corrupt: readonly string[],
): object {
  for (const id of corrupt) memory.corruptRows.add(id)
  const found = [...slice.counts].map(([kid, sealed]) => ({ kid, sealed }))
  const next = cursorOf(vault, slice, slice.hadCorrupt || corrupt.length > 0)
  if (next !== undefined) return { found, corrupt, keys: [], next_cursor: next }
  return { found, corrupt, keys: masterKeyViews(memory, vault) }
}

/** False when the row is corrupt: what it holds is opened before anything of it changes. */
function isResealed(desk: Desk, { table }: SealedSlice, id: string): boolean {
  try {
    reseal[table](desk, id)
    return true
  } catch (error) {
    if (error instanceof CorruptRow) return false
    throw error
  }
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
    const place = beneficiaryAccountPlace(id)
    const sealed_account = openedFor(id, () => desk.vault.resealAccount(row.sealed_account, place))
    stageBeneficiary(desk, { ...row, sealed_account })
  },
  payouts: (desk, id) => {
    const live = desk.memory.payouts.get(id)!
    const { beneficiary } = live.context
    const place = beneficiaryAccountPlace(beneficiary.id)
    const sealedAccount = openedFor(id, () =>
      desk.vault.resealAccount(beneficiary.sealedAccount, place),
    )
    const context = { ...live.context, beneficiary: { ...beneficiary, sealedAccount } }
    desk.memory.payoutHost.amend(live, context)
    stagePayout(desk, live)
  },
  intents: (desk, id) => {
    const live = desk.memory.intents.get(id)!
    const scanned = live.context.scanned!
    const { destination } = scanned
    const place = intentAccountPlace(live.context.id)
    const sealedAccount = openedFor(id, () =>
      desk.vault.resealAccount(destination.sealedAccount, place),
    )
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
