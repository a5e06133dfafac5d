/**
 * Records the dead deliveries of a webhook pool, and announces new ones to the partner's other
 * endpoints.
 *
 * - An endpoint has at most one announcement an hour. Deliveries that die before the hour is over
 *   are announced with a later report: the pools repeat theirs.
 * - Dead deliveries of events about endpoints are never announced, so announcements cause none.
 */
import { HOUR, instant } from '../../../base/clock.js'
import { DELIVERIES_DEAD_EVENT } from '../../../base/event_types.js'
import type { EndpointId } from '../../../base/ids.js'
import type { AlertingDeliveries, PoolReport } from '../../cache/dead_deliveries.js'
import type { EndpointEntry } from '../../cache/tenant_directory.js'
import { stageEndpoint } from '../../changes/directory.js'
import { nextSequence, publishEvent } from '../../changes/event_publish.js'
import { deadDeliveriesView, endpointView } from '../../changes/webhook_endpoints.js'
import { answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'

export function recordDeadDeliveries(pool: number, report: PoolReport): Command {
  return {
    name: 'record_dead_deliveries',
    needs: () => undefined,
    decide: (ctx) => {
      const { memory } = ctx
      memory.deadDeliveries.record(pool, report)
      for (const id of report.keys()) announceNew(ctx, id)
      return answer({})
    },
  }
}

function announceNew(ctx: CommandContext, id: EndpointId): void {
  const endpoint = ctx.memory.endpoints.get(id)
  const dead = ctx.memory.deadDeliveries.of(id)?.alerting
  if (endpoint === undefined || endpoint.status === 'deleted' || endpoint.isCorrupt) return
  if (dead && isDue(ctx, endpoint, dead)) announce(ctx, endpoint, dead)
}

function isDue(
  { now }: CommandContext,
  { deadAnnouncedAt }: EndpointEntry,
  { newestAt }: AlertingDeliveries,
): boolean {
  if (deadAnnouncedAt === null) return true
  return newestAt > deadAnnouncedAt && now - deadAnnouncedAt >= HOUR
}

function announce(ctx: CommandContext, endpoint: EndpointEntry, dead: AlertingDeliveries): void {
  const { id, tenant } = endpoint
  // The clock of the pool can be ahead.
  const deadAnnouncedAt = instant(Math.max(ctx.now, dead.newestAt))
  stageEndpoint(ctx, { ...endpoint, deadAnnouncedAt })
  const entity = `${id}@${nextSequence(ctx.memory, tenant)}`
  publishEvent(ctx, tenant, entity, DELIVERIES_DEAD_EVENT, {
    webhook_endpoint: {
      ...endpointView(endpoint, ctx.now),
      ...deadDeliveriesView(dead),
      newest_dead_event_id: dead.newestEventId,
    },
  })
}
