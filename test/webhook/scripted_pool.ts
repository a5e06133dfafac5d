/** The real pool and store with a manual clock and scripted receivers. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { SECOND } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import type { FailingEndpoint } from '../../actors/webhook/control/pool_port.js'
import { createPool, type PoolOptions } from '../../actors/webhook/pool.js'
import type { WebhookRequest } from '../../actors/webhook/sending/sender.js'
import type { SendOutcome } from '../../actors/webhook/delivery/send_outcome.js'
import { openWebhookStore, type StoredFailing } from '../../actors/webhook/store/store.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { tempFolder } from '../support/temp_folder.js'
import { failed, NO_REPORTS } from '../support/webhook_store.js'
import { aDelivery, anEndpoint, anEventRow, heldClock } from './builders.js'

type Kind = SendOutcome['kind']
/** What a receiver answers. */
export type Reply = Kind | 'silence' | 'late' | 'refused' | 'gone at last'

/** What the other answers are. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...{ silence: 'retry', refused: 'retry', late: 'delivered', 'gone at last': 'gone' },
}

const LATE_MS = 5 * SECOND

/**
 * The real pool and store; the test controls the clock and answers for the receivers.
 *
 * @param reply of all receivers, until `answer` changes it, or of each request
 */
export async function aPool(
  t: Test,
  reply: Reply | ((webhookRequest: WebhookRequest) => Reply),
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
  let replyOfAll = reply
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
    const kind = typeof replyOfAll === 'string' ? replyOfAll : replyOfAll(webhookRequest)
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
    log: SILENT_LOG,
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
  const endpoint = (changes?: Partial<Endpoint>): Endpoint => {
    const added = anEndpoint(changes)
    pool.applyEndpoint(added)
    return added
  }
  /** An endpoint with so many events. */
  const endpointWith = async (count: number): Promise<Endpoint> => {
    const added = endpoint()
    await give(added, count)
    return added
  }
  const count = (list: readonly string[], { id }: Endpoint): number =>
    list.filter((each) => each === id).length
  const untilDelivered = (to: Endpoint, events: number): Promise<boolean> =>
    eventually(`${events} events are delivered`, () => count(delivered, to) >= events)
  /** Advances the clock at each look. */
  const untilAfter = (what: string, everyMs: number, look: () => boolean): Promise<boolean> => {
    const drive = (): boolean => {
      clock.advance(everyMs)
      return look()
    }
    return eventually(what, drive, 15_000, 10)
  }
  /** The one endpoint that fails, once a failure of this moment is stored. */
  const failedNow = (): Promise<StoredFailing> =>
    eventually('its failure is stored', async () =>
      (await store.failing()).find(({ failedAt }) => failedAt === clock.now()),
    )
  return {
    ...{ clock, store, options, pool, failingAgain, give, hangUp, endpoint, endpointWith },
    ...{ most, delivered, tries, atOnce, disabled, count },
    ...{ untilDelivered, untilAfter, failedNow },
    answer: (changed: Reply) => (replyOfAll = changed),
  }
}
