/**
 * Issues a signing key to a tenant.
 *
 * - The first key takes the current quarter, each further one the quarter after the tenant's
 *   newest.
 * - At most three keys are active. Older keys are revoked 14 days after a newer one is issued.
 * - The secret is in this answer only: as text, or sealed for the partner. A key of production that
 *   a second operator approves is sealed, so neither of the two can sign as the partner.
 */
import {
  OWNER_KEY_RULE,
  ownerKeyDigest,
  ownerKeyIn,
  sealedFor,
} from '../../../auth/sealed_secret.js'
import { newSigningSecret } from '../../../auth/secret_generation.js'
import {
  keyIdOf,
  nextQuarter,
  parseKeyId,
  quarterAt,
  type Quarter,
} from '../../../auth/request_shape.js'
import { ACTIVE_KEYS_MAX } from '../../../base/constants.js'
import { DAY, plus } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import { partsOfTenant, type TenantId } from '../../../base/ids.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { isGuardedKey } from '../../changes/second_operator.js'
import { stageKey } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import { isActiveKey, type KeyEntry } from '../../cache/tenant_directory.js'
import type { Memory } from '../../cache/memory.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

const OVERLAP_MS = 14 * DAY

const INVALID_PUBLIC_KEY = invalid('/public_key', `must be ${OWNER_KEY_RULE}`)

/** @param publicKey the partner's RSA key in PEM, undefined if the secret is shown */
export function issueKey(actor: Actor, tenant: TenantId, publicKey?: string): Command {
  return {
    name: 'issue_key',
    needs: () => undefined,
    decide: (ctx) => {
      const active = keysOf(ctx.memory, tenant).filter((key) => isActiveKey(key, ctx.now))
      const owner = publicKey === undefined ? undefined : ownerKeyIn(publicKey)
      if (owner === null) return INVALID_PUBLIC_KEY
      if (active.length >= ACTIVE_KEYS_MAX) return refuse('signing_key_limit')
      if (isGuardedKey(tenant) && ctx.rules.secondOperator !== null) {
        if (publicKey === undefined || owner === undefined) {
          return refuse('owner_credential_required')
        }
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'issue_key',
          arguments: { tenant, public_key: publicKey },
          subject: `${tenant} sha256:${ownerKeyDigest(owner)}`,
          moved: null,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const key = stageNewKey(ctx, tenant)
      for (const older of active) {
        if (older.revokedAt === null) {
          stageKey(ctx, { ...older, revokedAt: plus(ctx.now, OVERLAP_MS) })
        }
      }
      logAction(ctx, actor, 'issue_key', key.id)
      return answer({
        key_id: key.id,
        ...(owner === undefined
          ? { secret: key.secret }
          : { sealed_secret: sealedFor(owner, key.secret) }),
      })
    },
  }
}

export function stageNewKey(ctx: CommandContext, tenant: TenantId): KeyEntry {
  const { partner, environment } = partsOfTenant(tenant)
  const newest = keysOf(ctx.memory, tenant)
    .map((key) => parseKeyId(key.id)!.quarter)
    .sort()
    .at(-1)
  const quarter: Quarter = newest === undefined ? quarterAt(ctx.now) : nextQuarter(newest)
  const key: KeyEntry = {
    id: keyIdOf({ partner, environment, quarter }),
    tenant,
    secret: newSigningSecret(ctx.random),
    createdAt: ctx.now,
    revokedAt: null,
    isRevoked: false,
  }
  stageKey(ctx, key)
  return key
}

export const keysOf = (memory: Memory, tenant: TenantId): readonly KeyEntry[] =>
  memory.keys.ofTenant(tenant)
