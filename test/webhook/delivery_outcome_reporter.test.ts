/** The reporter with several processors: each gets the outcomes of its own tenants. */
import t from 'tap'
import { createDeliveryOutcomeReporter } from '../../actors/webhook/intake/delivery_outcome_reporter.js'
import type { EventOutcomesClient } from '../../protos/types/causeway/internal/v1/EventOutcomes.js'
import type { TenantEvent } from '../../actors/webhook/store/store.js'
import { systemClock } from '../../src/base/clock.js'
import type { EventId, TenantId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { eventually } from '../support/eventually.js'

const log = createLog('test', { LOG_LEVEL: 'silent' })
const [ONE, TWO] = ['one_sandbox', 'two_sandbox'] as TenantId[]

interface Outcomes {
  readonly outcomes: readonly { readonly event_id: string }[]
}

/** A processor; without an answer it is unreachable. */
function aProcessor() {
  const recorded: string[] = []
  let isAway = false
  const client = {
    Record: (batch: Outcomes, _m: object, _o: object, done: (fault: Error | null) => void) => {
      if (!isAway) recorded.push(...batch.outcomes.map(({ event_id }) => event_id))
      done(isAway ? new Error('unreachable') : null)
    },
  } as unknown as EventOutcomesClient
  return { client, recorded, setAway: (away: boolean) => (isAway = away) }
}

void t.test('an unreachable processor delays only its own outcomes', async (t) => {
  const [one, two] = [aProcessor(), aProcessor()]
  // More of the first tenant than one query returns.
  const events: TenantEvent[] = Array.from({ length: 2_500 }, (_, i) => ({
    id: `evt_${i}` as EventId,
    tenant: (i < 2_400 ? ONE : TWO) as TenantId,
  }))
  const reported = new Set<string>()
  one.setAway(true)
  const clients = new Map([
    [ONE, one.client],
    [TWO, two.client],
  ])
  const reporter = createDeliveryOutcomeReporter({
    clientOf: (tenant) => clients.get(tenant),
    clientOfEndpoint: () => undefined,
    token: '',
    store: {
      unreported: (limit) =>
        Promise.resolve(events.filter(({ id }) => !reported.has(id)).slice(0, limit)),
      commit: ({ reported: ids = [] }) => {
        for (const id of ids) reported.add(id)
        return Promise.resolve()
      },
    },
    clock: systemClock,
    log,
  })
  t.teardown(() => reporter.stop())
  reporter.schedule()
  await eventually('the second processor has its outcomes', () => two.recorded.length === 100)
  t.same(one.recorded, [])
  one.setAway(false)
  await eventually('the first processor has its outcomes', () => one.recorded.length === 2_400)
  t.equal(two.recorded.length, 100)
})
