/** Redrives every delivery of an endpoint that failed since a given time. */
import type { RecoverWebhookEndpoint__Output as RecoverWebhookEndpoint } from '../../../protos/types/causeway/v1/RecoverWebhookEndpoint.js'
import { REDRIVE_MAX } from '../../base/constants.js'
import { instant, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import type { WebhookPools } from './webhook_pools.js'

export function recoverEndpoint(
  pools: WebhookPools,
  tenant: TenantId,
  request: RecoverWebhookEndpoint,
): Query {
  const { endpoint_id, since } = request
  return {
    name: 'recover_endpoint',
    queueKey: tenant,
    run: async () => {
      if (pools.missingPools.length > 0) return refuse('configuration_error')
      const done = await pools.requestAll(
        'redrive',
        { endpoint_id, since, limit: REDRIVE_MAX },
        tenant,
      )
      if (!done.ok) return refuse(done.code)
      return answer({
        endpoint_id,
        since: toRfc3339(instant(Number(since))),
        redriven: done.value.reduce((sum, { redriven }) => sum + redriven, 0),
        has_more: done.value.some(({ more }) => more),
      })
    },
  }
}
