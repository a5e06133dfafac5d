/**
 * Re-encrypts a page of the encrypted rows with the first master key.
 *
 * - Each page is a command of its own. Values already encrypted with the first key stay unchanged,
 *   so a run can be interrupted and started again.
 * - Only the encrypted values change: no actor moves, nothing is published or sent.
 * - The last page records that the other master keys are unused: all rows were checked since the
 *   first key encrypts, and nothing was encrypted with another key since.
 * - A corrupt row is reported and left unchanged. A run with a corrupt row records no key as
 *   unused.
 */
import { CorruptRow } from '../../../base/corrupt_row.js'
import type { EndpointId, KeyId } from '../../../base/ids.js'
import type { SealedTable } from '../../../store/sealed.js'
import { stagePayout } from '../../changes/advance_payout.js'
import { stageIntent } from '../../changes/advance_intent.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { stageEndpoint, stageKey } from '../../changes/directory.js'
import { answer } from '../../cycle/answer.js'
import { masterKeyViews } from '../../master_keys/master_key_view.js'
import type { Needs } from '../../cycle/needs.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import {
  beneficiaryAccountField,
  intentAccountField,
  openedFor,
} from '../../changes/rail_instructions.js'
import { cursorOf, type EncryptedRowsPage } from '../../queries/encrypted_rows_page.js'
import { stageBeneficiary } from '../../changes/beneficiaries.js'

export function reencryptSecretRows(actor: Actor, page: EncryptedRowsPage): Command {
  return {
    name: 'reencrypt_secrets',
    needs: (needs) => {
      for (const id of page.ids) need(needs, page.table, id)
    },
    decide: (ctx) => {
      const kid = ctx.vault.sealingKid
      if (page.isFirst) logAction(ctx, actor, 'reencrypt_begun', kid)
      const corrupt = [...page.corrupt, ...page.ids.filter((id) => !isReencrypted(ctx, page, id))]
      if (page.next === undefined) {
        const isComplete = corrupt.length === 0 && !page.hadCorrupt
        if (isComplete) recordOthersUnused(ctx)
        logAction(ctx, actor, isComplete ? 'reencrypt_done' : 'reencrypt_done_but_corrupt', kid)
      }
      return answer(pageView(ctx, page, corrupt))
    },
  }
}

/** Counts the encrypted values of a page by master key; changes nothing. */
export function countSealed(page: EncryptedRowsPage): Command {
  return {
    name: 'count_sealed',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => answer(pageView(ctx, page, page.corrupt)),
  }
}

function pageView(
  { memory, vault }: CommandContext,
  page: EncryptedRowsPage,
  corrupt: readonly string[],
): object {
  for (const id of corrupt) memory.corruptRows.add(id)
  const found = [...page.counts].map(([kid, values]) => ({ kid, values }))
  const next = cursorOf(vault, page, page.hadCorrupt || corrupt.length > 0)
  if (next !== undefined) return { found, corrupt, keys: [], next_cursor: next }
  return { found, corrupt, keys: masterKeyViews(memory, vault) }
}

/** False when the row is corrupt, which is found before anything of it changes. */
function isReencrypted(ctx: CommandContext, { table }: EncryptedRowsPage, id: string): boolean {
  try {
    reencrypt[table](ctx, id)
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

/** Re-encrypts a row of each table. Staging encrypts secrets that memory holds in plain text. */
const reencrypt: Readonly<Record<SealedTable, (ctx: CommandContext, id: string) => void>> = {
  signing_keys: (ctx, id) => stageKey(ctx, ctx.memory.keys.get(id as KeyId)!),
  webhook_endpoints: (ctx, id) => stageEndpoint(ctx, ctx.memory.endpoints.get(id as EndpointId)!),
  beneficiaries: (ctx, id) => {
    const row = ctx.memory.beneficiaries.get(id)!
    const field = beneficiaryAccountField(id)
    const sealed_account = openedFor(id, () =>
      ctx.vault.reencryptAccount(row.sealed_account, field),
    )
    stageBeneficiary(ctx, { ...row, sealed_account })
  },
  payouts: (ctx, id) => {
    const live = ctx.memory.payouts.get(id)!
    const { beneficiary } = live.context
    const field = beneficiaryAccountField(beneficiary.id)
    const sealedAccount = openedFor(id, () =>
      ctx.vault.reencryptAccount(beneficiary.sealedAccount, field),
    )
    live.context = { ...live.context, beneficiary: { ...beneficiary, sealedAccount } }
    stagePayout(ctx, live)
  },
  intents: (ctx, id) => {
    const live = ctx.memory.intents.get(id)!
    const scanned = live.context.scanned!
    const { destination } = scanned
    const field = intentAccountField(live.context.id)
    const sealedAccount = openedFor(id, () =>
      ctx.vault.reencryptAccount(destination.sealedAccount, field),
    )
    const amended = { ...scanned, destination: { ...destination, sealedAccount } }
    live.context = { ...live.context, scanned: amended }
    stageIntent(ctx, live)
  },
}

function recordOthersUnused({ memory, batch, now, vault }: CommandContext): void {
  for (const row of memory.masterKeys.values()) {
    if (row.kid === vault.sealingKid || row.emptied_at !== null) continue
    const emptied = { ...row, emptied_at: now }
    memory.masterKeys.set(row.kid, emptied)
    batch.stage('masterKeys', row.kid, emptied)
  }
}
