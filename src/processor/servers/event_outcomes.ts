/** What the webhook pools report: settled events, dead deliveries, endpoints to disable. */
import type { EndpointDeadDeliveries__Output as EndpointDeadDeliveries } from '../../../protos/types/causeway/internal/v1/EndpointDeadDeliveries.js'
import type { EventOutcomesHandlers } from '../../../protos/types/causeway/internal/v1/EventOutcomes.js'
import { instant } from '../../base/clock.js'
import type { EndpointId, EventId } from '../../base/ids.js'
import type { AlertingDeliveries, PoolReport } from '../cache/dead_deliveries.js'
import { recordDeadDeliveries } from '../commands/webhook_endpoints/dead_deliveries_record.js'
import { poolReport } from '../commands/webhook_endpoints/pool_report.js'
import { settleEvents } from '../commands/webhook_endpoints/events_settle.js'
import { disableWebhookEndpoint } from '../commands/webhook_endpoints/webhook_endpoint_switch.js'
import type { Command } from '../cycle/command.js'
import { ownWork, unary, type QueuedCommand, type UnaryDependencies } from './unary_handler.js'

export function eventOutcomesService(dependencies: UnaryDependencies): EventOutcomesHandlers {
  return {
    Record: unary(dependencies, ({ outcomes }) => {
      const settled = outcomes.filter(({ outcome }) => outcome === 'settled')
      return poolWork(settleEvents(settled.map(({ event_id }) => event_id)))
    }),
    RecordDead: unary(dependencies, ({ pool, endpoints }) =>
      poolWork(recordDeadDeliveries(pool, deadDeliveriesIn(endpoints))),
    ),
    DisableEndpoint: unary(dependencies, ({ endpoint_id, reason, url }) =>
      poolWork(disableWebhookEndpoint(endpoint_id as EndpointId, reason, url)),
    ),
  }
}

const poolWork = (command: Command): QueuedCommand => ownWork(poolReport(command), 'webhook_pool')

const deadDeliveriesIn = (endpoints: readonly EndpointDeadDeliveries[]): PoolReport =>
  new Map(
    endpoints.map(({ endpoint_id, count, newest_at, alerting }) => [
      endpoint_id as EndpointId,
      {
        count,
        newestAt: instant(Number(newest_at)),
        alerting: alertingIn(alerting),
      },
    ]),
  )

const alertingIn = (
  message: EndpointDeadDeliveries['alerting'] | undefined,
): AlertingDeliveries | null =>
  message
    ? {
        count: message.count,
        newestAt: instant(Number(message.newest_at)),
        newestEventId: message.newest_event_id as EventId,
      }
    : null
