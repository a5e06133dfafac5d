/** Operators' queries to the webhook pools; counts of several pools are added up. */
import type { EndpointHealth__Output as EndpointHealth } from '../../../protos/types/causeway/internal/v1/EndpointHealth.js'
import type { DeliveryRecord__Output as DeliveryRecord } from '../../../protos/types/causeway/internal/v1/DeliveryRecord.js'
import type { PoisonRecord__Output as PoisonRecord } from '../../../protos/types/causeway/internal/v1/PoisonRecord.js'
import type { RedriveRequest__Output as RedriveRequest } from '../../../protos/types/causeway/operator/v1/RedriveRequest.js'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, REDRIVE_MAX } from '../../base/constants.js'
import { invalid } from '../../base/errors.js'
import { positionIn } from './delivery_pages.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Memory } from '../cache/memory.js'
import { INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { momentText } from './readable.js'
import type { WebhookPools } from './webhook_pools.js'
import { pageView } from './delivery_list.js'

const moment = (at: string | number): string => momentText(Number(at))
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

export const webhookStatus = (pools: WebhookPools): Query => ({
  name: 'webhook_status',
  queueKey: 'internal',
  run: async () => {
    const found = await pools.requestAll('status', {})
    if (!found.ok) return refuse(found.code)
    const endpoints = found.value.flatMap((pool) => pool.endpoints)
    const oldest = found.value.map((pool) => Number(pool.oldest_open_at)).filter((at) => at > 0)
    const broken = endpoints.filter((endpoint) => endpoint.breaker_open)
    return answer({
      pools: found.value.length,
      in_flight: sum(found.value.map((pool) => pool.in_flight)),
      open: sum(endpoints.map((endpoint) => endpoint.open)),
      dead: sum(endpoints.map((endpoint) => endpoint.dead)),
      poison: sum(found.value.map((pool) => pool.poison)),
      corrupt: sum(found.value.map((pool) => pool.corrupt)),
      ...(oldest.length === 0 ? {} : { oldest_open_at: moment(Math.min(...oldest)) }),
      open_breakers: [...new Set(broken.map((endpoint) => endpoint.endpoint_id))],
      missing_pools: pools.missingPools,
    })
  },
})

export const listAllEndpoints = (pools: WebhookPools, memory: Memory): Query => ({
  name: 'list_all_endpoints',
  queueKey: 'internal',
  run: async () => {
    const found = await pools.requestAll('status', {})
    const health = found.ok ? found.value.flatMap((pool) => pool.endpoints) : []
    const active = [...memory.endpoints.values()].filter(({ status }) => status !== 'deleted')
    return answer({
      data: active.map(({ id, tenant, url, status, disabledReason }) => ({
        ...{ id, tenant, url, status, disabled_reason: disabledReason },
        ...(found.ok
          ? { counters: countersOf(health.filter(({ endpoint_id }) => endpoint_id === id)) }
          : {}),
      })),
      missing_pools: pools.missingPools,
    })
  },
})

function countersOf(health: readonly EndpointHealth[]): object {
  const failing = health.map((each) => Number(each.failing_since)).filter((since) => since > 0)
  return {
    open: sum(health.map((each) => each.open)),
    dead: sum(health.map((each) => each.dead)),
    breaker_open: health.some((each) => each.breaker_open),
    ...(failing.length === 0 ? {} : { failing_since: moment(Math.min(...failing)) }),
  }
}

export const listDead = (
  pools: WebhookPools,
  request: PageRequest & { readonly endpoint_id?: string },
): Query => ({
  name: 'list_dead',
  queueKey: 'internal',
  run: async ({ vault }) => {
    const endpoint = request.endpoint_id ?? ''
    const page = pageOf(vault, `dead ${endpoint}`, request)
    if (page === null) return INVALID_PAGE
    const position = positionIn(page.after)
    const found = await pools.requestAll('deliveries', {
      endpoint_id: endpoint,
      dead_only: true,
      below_event: position.event,
      below_endpoint: position.endpoint,
      limit: page.limit,
    })
    if (!found.ok) return refuse(found.code)
    const list = pageView(vault, page, found.value, deadLetter)
    return answer({ ...list, missing_pools: pools.missingPools })
  },
})

const deadLetter = (record: DeliveryRecord): object => ({
  id: record.id,
  tenant: record.tenant,
  endpoint_id: record.endpoint_id,
  event_id: record.event_id,
  event_type: record.event_type,
  reason: record.reason,
  ended_at: moment(record.ended_at),
  tries: record.attempts.at(-1)?.number ?? 0,
})

export const redrive = (pools: WebhookPools, request: RedriveRequest): Query => ({
  name: 'redrive',
  queueKey: 'internal',
  run: async () => {
    const { delivery_id, endpoint_id, since } = request
    const done = await pools.requestAll('redrive', {
      ...(delivery_id === undefined ? {} : { delivery_id }),
      ...(endpoint_id === undefined ? {} : { endpoint_id }),
      ...{ since, limit: REDRIVE_MAX },
    })
    if (!done.ok) return refuse(done.code)
    const isKnown = delivery_id === undefined || done.value.some(({ known }) => known)
    const { missingPools } = pools
    if (!isKnown) return refuse(missingPools.length === 0 ? 'not_found' : 'configuration_error')
    return answer({
      missing_pools: missingPools,
      redriven: sum(done.value.map((each) => each.redriven)),
      more: done.value.some((each) => each.more),
    })
  },
})

const INVALID_LIMIT = invalid('/limit', `must be 1 to ${LIST_LIMIT_MAX}`)

export const listPoison = (pools: WebhookPools, { limit }: { readonly limit?: number }): Query => ({
  name: 'list_poison',
  queueKey: 'internal',
  run: async () => {
    const size = limit ?? LIST_LIMIT_DEFAULT
    if (size < 1 || size > LIST_LIMIT_MAX) return INVALID_LIMIT
    const found = await pools.requestAll('poison', { limit: size })
    if (!found.ok) return refuse(found.code)
    const latest = found.value
      .flatMap((pool) => pool.messages)
      .sort((one, other) => Number(other.last_seen) - Number(one.last_seen))
    const data = latest.slice(0, size).map(poisonMessage)
    return answer({ data, missing_pools: pools.missingPools })
  },
})

const poisonMessage = (record: PoisonRecord): object => ({
  ...record,
  first_seen: moment(record.first_seen),
  last_seen: moment(record.last_seen),
})
