/** The real pool and store with a manual clock and scripted receivers. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { SECOND } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import type { FailingEndpoint } from '../../actors/webhook/control/pool_port.js'
import { createPool, type PoolOptions } from '../../actors/webhook/pool.js'
import type { WebhookRequest } from '../../actors/webhook/sending/sender.js'
import type { SendOutcome } from '../../actors/webhook/delivery/send_outcome.js'
import { openWebhookStore } from '../../actors/webhook/store/store.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { failed, NO_REPORTS } from '../support/webhook_store.js'
import { aDelivery, anEventRow, heldClock } from './builders.js'

export type Kind = SendOutcome['kind']

/** What the other answers are. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...{ silence: 'retry', refused: 'retry', late: 'delivered', 'gone at last': 'gone' },
}

const LATE_MS = 5 * SECOND

/** Like `eventually`, where each look moves the clock. */
export const driving = (what: string, look: () => boolean): Promise<boolean> =>
  eventually(what, look, 15_000, 10)

/** The real pool and store; the test controls the clock and answers for the receivers. */
export async function aPool(
  t: Test,
  answer: (
    webhookRequest: WebhookRequest,
  ) => Kind | 'silence' | 'late' | 'refused' | 'gone at last',
  ratePerSecond: number | null = null,
  isPaused: (tenant: TenantId) => boolean = () => false,
) {
  const clock = heldClock()
  const file = join(tempFolder(t), 'webhooks.db')
  const store = await openWebhookStore(file, NO_REPORTS)
  const inFlight = new Map<string, number>()
  const most = new Map<string, number>()
  const delivered: string[] = []
  const tries: string[] = []
  /** Attempts in flight at the endpoint when each attempt started, itself included. */
  const atOnce: number[] = []
  const disabled: string[] = []
  let hangUp: () => void = () => undefined
  let hungUp = false
  const hangingUp = new Promise<void>((resolve) => (hangUp = resolve)).then(() => {
    hungUp = true
  })

  const send = async (webhookRequest: WebhookRequest): Promise<SendOutcome> => {
    const { id } = webhookRequest.endpoint
    const now = (inFlight.get(id) ?? 0) + 1
    inFlight.set(id, now)
    most.set(id, Math.max(most.get(id) ?? 0, now))
    tries.push(id)
    atOnce.push(now)
    const kind = answer(webhookRequest)
    const began = clock.now()
    if (kind === 'silence' || kind === 'gone at last') await hangingUp
    else if (kind === 'late')
      await eventually('late', () => clock.now() > began + LATE_MS || hungUp)
    else await new Promise((resolve) => setImmediate(resolve))
    inFlight.set(id, (inFlight.get(id) ?? 0) - 1)
    return {
      kind: KINDS[kind] ?? (kind as Kind),
      status: null,
      reason: kind === 'refused' ? 'ECONNREFUSED' : kind,
      latencyMs: 0,
      reply: '',
    }
  }
  const options: PoolOptions = {
    ratePerSecond,
    sender: { send },
    store,
    backoff: { attemptsMax: 12, scalePct: 100 },
    clock,
    random: systemRandom(),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
    isPaused,
    settled: () => undefined,
    disable: ({ id, reason }) => void disabled.push(`${id} ${reason}`),
    onAttempt: ({ outcome, delivery }) => {
      if (outcome.kind === 'delivered') delivered.push(delivery.endpointId)
    },
    failed,
  }
  const pool = createPool(options)
  await pool.start()
  t.teardown(async () => {
    hangUp()
    await pool.stop()
    await store.close()
  })

  /** The state of a new pool over the same store. */
  const failingAgain = async (): Promise<readonly FailingEndpoint[]> => {
    const other = createPool(options)
    await other.start()
    await other.stop()
    return other.failing()
  }

  /** Like the event consumer: passed to the pool while their commit is in progress. */
  const give = async (endpoint: Endpoint, count: number): Promise<void> => {
    const events = Array.from({ length: count }, () =>
      anEventRow({ receivedAt: clock.now(), tenant: endpoint.tenant }),
    )
    const deliveries = events.map((event) => aDelivery(event, endpoint))
    const stored = store.commit({ events, deliveries })
    pool.deliver(deliveries, stored)
    await stored
  }
  const count = (list: readonly string[], endpoint: Endpoint): number =>
    list.filter((id) => id === endpoint.id).length
  const counted = { most, delivered, tries, atOnce, disabled, count }
  return { clock, store, options, pool, failingAgain, give, hangUp, ...counted }
}
