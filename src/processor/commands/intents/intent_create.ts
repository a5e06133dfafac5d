/**
 * Creates a payment intent and its session token.
 *
 * - The same key with the same request replays the first body byte for byte, whatever the intent's
 *   state: the body is derived from context members that never change.
 * - No money moves here. The attestations are checked now, because they belong to this request.
 */
import { hash } from 'node:crypto'
import { mintSessionToken } from '../../../auth/token.js'
import { newTokenId, type TokenId } from '../../../auth/secret_generation.js'
import { plus, SECOND, toEpochSeconds } from '../../../base/clock.js'
import {
  environmentOf,
  newId,
  partsOfTenant,
  type IntentId,
  type RequestId,
  type TenantId,
} from '../../../base/ids.js'
import type { Traceparent } from '../../../base/traceparent.js'
import { isCorridor, type Corridor } from '../../../qr/corridor.js'
import { intentTransitions } from '../../../../actors/intent/machine.js'
import { createdView } from '../../../../actors/intent/view.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { CreateIntent__Output as CreateIntent } from '../../../../protos/types/causeway/v1/CreateIntent.js'
import { refusalOf, attestationsOf } from './attestations.js'
import { stageIntent } from '../../changes/advance_intent.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, refuse, replay, type Answer } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import { recordTransition } from '../../changes/transitions.js'
import { linkIntent } from '../../changes/user_intent_links.js'
import { idempotencyRowKey, type Vault } from '../../keys/vault.js'

export function createIntent(tenant: TenantId, request: CreateIntent): Command {
  const rowKey =
    request.idempotency_key === undefined
      ? null
      : idempotencyRowKey(tenant, 'create_intent', request.idempotency_key)

  return {
    name: 'create_intent',

    needs: (needs, memory) => {
      if (rowKey === null) return
      needs.idempotency(rowKey)
      const known = memory.idempotency.get(rowKey)
      if (known) needs.intent(known.entity)
    },

    decide: (ctx): Answer => {
      const { memory } = ctx
      const attestations = attestationsOf(request)
      const requestHash = rowKey === null ? '' : hashOf(request, attestations)
      const known = rowKey === null ? null : boundRow(memory, rowKey)
      if (known) {
        if (known.request_hash !== requestHash) return refuse('idempotency_conflict')
        const first = memory.intents.get(known.entity)!
        return replay(viewOf(first.context, ctx.vault))
      }

      const partner = memory.partners.get(partsOfTenant(tenant).partner)
      if (partner === undefined || partner.suspended) return refuse('partner_suspended')
      if (!hasKnownCorridor(request) || !partner.corridors.includes(request.corridor)) {
        return refuse('corridor_not_enabled')
      }
      const unattested = refusalOf(request)
      if (unattested !== null) return refuse(unattested)

      // From here on it must succeed.
      const context = newContext(ctx, tenant, request, attestations)
      const live = { state: intentTransitions.initial, context }
      stageIntent(ctx, live)
      recordTransition(ctx, live, null)
      linkIntent(ctx, context)
      if (rowKey !== null) {
        bindKey(ctx, rowKey, { requestHash, entity: context.id, response: null })
      }
      return answer(viewOf(context, ctx.vault))
    },
  }
}

type NewIntent = CreateIntent & { readonly corridor: Corridor }

const hasKnownCorridor = (request: CreateIntent): request is NewIntent =>
  isCorridor(request.corridor)

/** For a test of the sandbox: it expires within seconds. */
const EXPIRES_SOON_MS = 5 * SECOND
const isToExpire = (tenant: TenantId, { partner_user_id: user }: NewIntent): boolean =>
  user.endsWith('+expire') && environmentOf(tenant) === 'sandbox'

function newContext(
  { now, random, rules, vault, origin }: CommandContext,
  tenant: TenantId,
  request: NewIntent,
  attestations: string,
): IntentContext {
  const expiresAt = plus(now, isToExpire(tenant, request) ? EXPIRES_SOON_MS : rules.intentTtlMs)
  const context: NewContext = {
    id: newId<IntentId>('intent', now, random),
    tenant,
    userId: request.partner_user_id,
    amountCents: request.amount_usd_cents,
    corridor: request.corridor,
    attestations,
    createdAt: now,
    expiresAt,
    session: {
      kid: vault.tokenKeys.current,
      jti: newTokenId(random),
      exp: toEpochSeconds(plus(now, rules.sessionTtlMs)),
    },
    dueAt: expiresAt,
  }
  if (origin.requestId !== null) context.requestId = origin.requestId
  if (origin.traceparent !== undefined) context.traceparent = origin.traceparent
  return context
}

/** Assigned, because a copy of the context costs a microsecond. */
type NewContext = IntentContext & { requestId?: RequestId; traceparent?: Traceparent }

function viewOf(context: IntentContext, vault: Vault): object {
  const { id, tenant, session } = context
  const token = mintSessionToken(vault.tokenKeys, session.kid, {
    intentId: id,
    tenant,
    jti: session.jti as TokenId,
    expiresAt: session.exp,
  })
  return createdView(context, token)
}

function hashOf(request: CreateIntent, attestations: string): string {
  const { partner_user_id: user, amount_usd_cents: cents, corridor } = request
  const text = `${JSON.stringify(user)} ${cents} ${corridor} ${attestations}`
  return hash('sha256', text, 'base64url').slice(0, 22)
}
