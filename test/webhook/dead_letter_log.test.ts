/** Log lines of dead deliveries. */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { createDeadLetterLog } from '../../actors/webhook/dead_letter_log.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'

t.test('a dead delivery has one line; above the bound they are counted', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLog(
    'webhooks',
    { LOG_LEVEL: 'info' },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const at = systemClock.now()
  const deadLetters = createDeadLetterLog({ clock: { now: () => at }, log, perSecond: 1 })
  const requestId = 'req_01KAH3N6T0ABCDEFGHJKMNPQRS'
  const endpoint = anEndpoint()
  const delivery = aDelivery(anEventRow({ requestId }), endpoint)
  const dead = { ...delivery.context, tries: 12, reason: 'http_503' }
  for (let i = 0; i < 3; i++) deadLetters.dead({ ...delivery, state: 'dead', context: dead })
  deadLetters.abandoned(endpoint.id, 7)
  deadLetters.stop()
  t.match(lines, [
    {
      ...{ level: 'warn', process: 'webhooks', message: 'delivery is dead' },
      ...{ delivery_id: delivery.id, event_id: delivery.eventId, endpoint_id: endpoint.id },
      ...{ event_type: 'payout.completed', tenant: delivery.tenant, request_id: requestId },
      ...{ tries: 12, reason: 'http_503' },
    },
    { message: 'deliveries are dead', endpoint_id: endpoint.id, count: 7 },
    { message: 'dead deliveries not logged: rate limit of log lines reached', omitted: 2 },
  ])
  t.equal(lines.length, 3)
})
