/**
 * Issues a signing key to a tenant.
 *
 * K1. A new key takes the quarter after the tenant's newest one; the first takes the current
 *     quarter.
 * K2. At most three keys are active. The older ones are revoked 14 days after a newer one came.
 * K3. The secret is shown in this answer only.
 */
import { newSigningSecret } from '../../auth/secrets.js'
import {
  keyIdOf,
  nextQuarter,
  parseKeyId,
  quarterAt,
  type Quarter,
} from '../../auth/request_shape.js'
import { ACTIVE_KEYS_MAX } from '../../base/bounds.js'
import { DAY, plus } from '../../base/clock.js'
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { Command, Desk } from '../cycle/command.js'
import { stageKey } from '../changes/directory.js'
import { answer, refuse } from '../cycle/answer.js'
import { isActiveKey, type KeyEntry } from '../memory/directory_entries.js'
import type { Memory } from '../memory/memory.js'
import { logAction, type Actor } from '../changes/operator_log.js'

const OVERLAP_MS = 14 * DAY

export function issueKey(actor: Actor, tenant: TenantId): Command {
  return {
    name: 'issue_key',
    needs: () => undefined,
    decide: (desk) => {
      const active = keysOf(desk.memory, tenant).filter((key) => isActiveKey(key, desk.now))
      if (active.length >= ACTIVE_KEYS_MAX) return refuse('signing_key_limit')

      // From here on it must succeed.
      const key = stageNewKey(desk, tenant)
      for (const older of active) {
        if (older.revokedAt === null) {
          stageKey(desk, { ...older, revokedAt: plus(desk.now, OVERLAP_MS) })
        }
      }
      logAction(desk, actor, 'issue_key', key.id)
      return answer({ key_id: key.id, secret: key.secret })
    },
  }
}

export function stageNewKey(desk: Desk, tenant: TenantId): KeyEntry {
  const { partner, environment } = partsOfTenant(tenant)
  const newest = keysOf(desk.memory, tenant)
    .map((key) => parseKeyId(key.id)!.quarter)
    .sort()
    .at(-1)
  const quarter: Quarter = newest === undefined ? quarterAt(desk.now) : nextQuarter(newest)
  const key: KeyEntry = {
    id: keyIdOf({ partner, environment, quarter }),
    tenant,
    secret: newSigningSecret(desk.random),
    createdAt: desk.now,
    revokedAt: null,
    isRevoked: false,
  }
  stageKey(desk, key)
  return key
}

export const keysOf = (memory: Memory, tenant: TenantId): KeyEntry[] =>
  [...memory.keys.values()].filter((key) => key.tenant === tenant)
