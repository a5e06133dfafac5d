/**
 * Registers a webhook endpoint.
 *
 * - The secret is shown only in this answer and in that of a rotation; it is stored encrypted.
 * - The same key with the same request replays the first answer. Its secret is not stored with the
 *   key but taken from the endpoint. A key whose endpoint was deleted, or whose first secret was
 *   replaced, is a conflict: its answer would mislead.
 * - A deleted endpoint does not count any more. Its row stays, and pools receive it for some time,
 *   so the number created within a day is also bounded, deleted endpoints included.
 */
import { ENDPOINTS_CREATED_PER_DAY_MAX, ENDPOINTS_PER_TENANT_MAX } from '../../../base/constants.js'
import { DAY, plus, type Instant } from '../../../base/clock.js'
import { invalid } from '../../../base/errors.js'
import { newId, type EndpointId, type TenantId } from '../../../base/ids.js'
import { newWebhookSecret } from '../../../auth/secret_generation.js'
import type { CreateWebhookEndpoint__Output as CreateWebhookEndpoint } from '../../../../protos/types/causeway/v1/CreateWebhookEndpoint.js'
import type { Command } from '../../cycle/command.js'
import { stageEndpoint } from '../../changes/directory.js'
import { API_VERSION } from '../../changes/event_publish.js'
import { answer, refuse, replay } from '../../cycle/answer.js'
import { bindKey, boundRow } from '../../cycle/idempotency.js'
import type { EndpointEntry } from '../../cache/tenant_directory.js'
import type { Memory } from '../../cache/memory.js'
import { idempotencyRowKey, type Vault } from '../../keys/vault.js'
import {
  endpointsOf,
  endpointView,
  filterOf,
  violationIn,
  type EndpointTerms,
} from '../../changes/webhook_endpoints.js'

export function createWebhookEndpoint(tenant: TenantId, request: CreateWebhookEndpoint): Command {
  const key = request.idempotency_key
  const rowKey = key === undefined ? null : idempotencyRowKey(tenant, OPERATION, key)
  return {
    name: OPERATION,
    needs: (needs) => {
      if (rowKey !== null) needs.idempotency(rowKey)
    },
    decide: (ctx) => {
      if (key === '') return invalid('header/Idempotency-Key', 'must not be empty')
      const terms: EndpointTerms = {
        url: request.url,
        description: request.description ?? '',
        enabledEvents: filterOf(request.enabled_events),
        apiVersion: request.api_version ?? API_VERSION,
      }
      const requestHash = rowKey === null ? '' : hashOf(terms, ctx.vault)
      const known = rowKey === null ? null : boundRow(ctx.memory, rowKey)
      if (known) {
        const first = firstSecretOf(ctx.memory, known.entity)
        const isSame = known.request_hash === requestHash && first !== undefined
        if (!isSame) return refuse('idempotency_conflict')
        return replay({ ...(JSON.parse(known.response ?? '') as object), secret: first })
      }
      const violation = violationIn(tenant, terms)
      if (violation !== null) return refuse('invalid_request', violation)
      if (!hasCapacity(ctx.memory, tenant, ctx.now)) return refuse('webhook_endpoint_limit')

      // From here on it must succeed.
      const id = newId<EndpointId>('endpoint', ctx.now, ctx.random)
      const secret = newWebhookSecret(ctx.random)
      const entry: EndpointEntry = {
        id,
        tenant,
        ...terms,
        enabledEventsSince: ctx.now,
        status: 'enabled',
        disabledReason: '',
        timesDisabled: 0,
        disabledAt: null,
        deadAnnouncedAt: null,
        breakerResetAt: ctx.now,
        secrets: [{ keyId: id + FIRST, secret, activeFrom: ctx.now }],
        createdAt: ctx.now,
      }
      stageEndpoint(ctx, entry)
      const view = endpointView(entry, ctx.now)
      if (rowKey !== null) {
        bindKey(ctx, rowKey, { requestHash, entity: id, response: JSON.stringify(view) })
      }
      return answer({ ...view, secret })
    },
  }
}

const OPERATION = 'create_webhook_endpoint'
const FIRST = '_1'

function firstSecretOf({ endpoints }: Memory, id: string): string | undefined {
  const secrets = endpoints.get(id as EndpointId)?.secrets ?? []
  return secrets.find(({ keyId }) => keyId === id + FIRST)?.secret
}

/** Keyed, because the address of a receiver can contain a token. */
const hashOf = ({ url, description, enabledEvents, apiVersion }: EndpointTerms, vault: Vault) =>
  vault.hashRequest([url, description, [...enabledEvents], apiVersion])

function hasCapacity(memory: Memory, tenant: TenantId, now: Instant): boolean {
  const since = plus(now, -DAY)
  const made = memory.endpoints.ofTenant(tenant).filter(({ createdAt }) => createdAt > since)
  return (
    endpointsOf(memory, tenant).length < ENDPOINTS_PER_TENANT_MAX &&
    made.length < ENDPOINTS_CREATED_PER_DAY_MAX
  )
}
