/**
 * Revokes a signing key at once or at the end of its overlap, and lists a tenant's keys.
 *
 * - Revocation is final: neither a command nor a clock set back makes a revoked key valid again.
 */
import { toRfc3339, type Instant } from '../../../base/clock.js'
import { named } from '../../../base/corrupt_row.js'
import type { KeyId, TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { stageKey } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import { isActiveKey, type KeyEntry } from '../../cache/tenant_directory.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { keysOf } from './key_issue.js'

export function revokeKey(actor: Actor, keyId: string): Command {
  return {
    name: 'revoke_key',
    needs: () => undefined,
    decide: (ctx) => {
      const key = ctx.memory.keys.get(keyId as KeyId)
      if (key === undefined) return refuse('signing_key_not_found')
      if (statusOf(key, ctx.now) === 'revoked') return refuse('signing_key_revoked')

      // From here on it must succeed.
      const revoked = { ...key, revokedAt: ctx.now, isRevoked: true }
      stageKey(ctx, revoked)
      logAction(ctx, actor, 'revoke_key', keyId)
      return answer(keyView(revoked, ctx.now))
    },
  }
}

/** Whether `expireKeys` would change a key. */
export const hasExpiredKeys = (keys: Iterable<KeyEntry>, now: Instant): boolean =>
  [...keys].some((key) => isExpired(key, now))

/** Makes the end of an overlap final, also when the clock is set back. */
export function expireKeys(): Command {
  return {
    name: 'expire_keys',
    needs: () => undefined,
    decide: (ctx) => {
      const expired = [...ctx.memory.keys.values()].filter((key) => isExpired(key, ctx.now))

      // From here on it must succeed.
      for (const key of expired) stageKey(ctx, { ...key, isRevoked: true })
      return answer({})
    },
  }
}

const isExpired = (key: KeyEntry, now: Instant): boolean => !key.isRevoked && !isActiveKey(key, now)

export function listKeys(tenant: TenantId): Command {
  return {
    name: 'list_keys',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory, now }) =>
      answer({
        data: [...keysOf(memory, tenant)]
          .sort((one, other) => (one.id < other.id ? -1 : 1))
          .map((key) => keyView(key, now)),
      }),
  }
}

function statusOf(key: KeyEntry, now: Instant): 'active' | 'retiring' | 'revoked' {
  if (!isActiveKey(key, now)) return 'revoked'
  return key.revokedAt === null ? 'active' : 'retiring'
}

function keyView(key: KeyEntry, now: Instant): object {
  const common = { key_id: key.id, status: statusOf(key, now) }
  if (key.isCorrupt) return { ...common, ...named(`signing key ${key.id}`) }
  return {
    ...common,
    created_at: toRfc3339(key.createdAt),
    ...(key.revokedAt === null ? {} : { revoked_at: toRfc3339(key.revokedAt) }),
  }
}
