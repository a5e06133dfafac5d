/**
 * Gives an endpoint a new secret that signs from a given instant.
 *
 * - Until then the current secret signs; receivers distinguish the two by key id.
 * - A second rotation before that instant replaces the new secret, so a lost answer can be
 *   requested again.
 * - A key id is never reused.
 */
import { SECRET_ACTIVE_AFTER_MAX_MS, SECRET_ACTIVE_AFTER_MS } from '../../../base/constants.js'
import { DAY, instant, plus, toRfc3339, type Instant } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import type { TenantId } from '../../../base/ids.js'
import { newWebhookSecret } from '../../../auth/secret_generation.js'
import type { RotateWebhookSecret__Output as RotateWebhookSecret } from '../../../../protos/types/causeway/v1/RotateWebhookSecret.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { EndpointEntry } from '../../cache/tenant_directory.js'
import { endpointOf, endpointView, signingSecretOf } from '../../changes/webhook_endpoints.js'

export function rotateWebhookSecret(tenant: TenantId, request: RotateWebhookSecret): Command {
  return {
    name: 'rotate_webhook_secret',
    needs: () => undefined,
    decide: (ctx) => {
      const { now } = ctx
      const endpoint = endpointOf(ctx.memory, tenant, request.endpoint_id)
      if (endpoint === undefined) return refuse('webhook_endpoint_not_found')
      const activeFrom = activationOf(request, now)
      if (activeFrom > plus(now, SECRET_ACTIVE_AFTER_MAX_MS)) return TOO_LATE

      // From here on it must succeed.
      const signing = signingSecretOf(endpoint, now)
      const fresh = {
        keyId: nextKeyId(endpoint),
        secret: newWebhookSecret(ctx.random),
        activeFrom,
      }
      const rotated: EndpointEntry = {
        ...endpoint,
        secrets: signing === undefined ? [fresh] : [signing, fresh],
      }
      stageEndpoint(ctx, rotated)
      return answer({
        ...endpointView(rotated, now),
        key_id: fresh.keyId,
        secret: fresh.secret,
        activate_at: toRfc3339(activeFrom),
      })
    },
  }
}

const TOO_LATE = invalid(
  '/activate_at',
  `must be within ${SECRET_ACTIVE_AFTER_MAX_MS / DAY} days from now`,
)

function activationOf({ activate_at: requested }: RotateWebhookSecret, now: Instant): Instant {
  if (requested === undefined) return plus(now, SECRET_ACTIVE_AFTER_MS)
  return instant(Math.max(Number(requested), now))
}

function nextKeyId({ id, secrets }: EndpointEntry): string {
  const last = secrets.at(-1)?.keyId ?? `${id}_0`
  return `${id}_${Number(last.slice(id.length + 1)) + 1}`
}
