/**
 * Requests at a fixed rate from clients that repeat none: on kept connections and on new ones.
 *
 * - A request is sent when it is due, however many have no answer yet, so a pause shows as late
 *   answers and not as fewer requests.
 * - Anything but the expected status is a failure: also an error of the connection.
 */
import { Agent } from 'node:http'
import { connect, type Connection, type Credentials } from '../../src/client/index.js'
import { withKey } from '../support/partner.js'
import { anIntent, payoutBody } from '../support/requests.js'

/** Moments of `performance.now()`. */
interface Answered {
  readonly sentAt: number
  readonly at: number
}

export interface Failure {
  readonly at: number
  readonly what: string
}

export interface Window {
  readonly requests: number
  readonly failed: number
  /** The longest time without a success. */
  readonly pauseMs: number
  readonly slowestMs: number
}

type Step = (number: number) => Promise<string | undefined>

const TICK_MS = 5
/** Beyond the service's own deadline, so a failure is the service's. */
const TIMEOUT_MS = 20_000
const KEPT_CONNECTIONS = 256
/** As Node's own agent; the gateway closes a connection that was idle for ten seconds. */
const IDLE_MS = 5_000

/** @param tenants each is called through all of its addresses in turn */
export async function startSteadyLoad(
  tenants: readonly (readonly Credentials[])[],
  perSecond: number,
) {
  const kept = new Agent({ keepAlive: true, maxSockets: KEPT_CONNECTIONS, timeout: IDLE_MS })
  const fresh = new Agent({ keepAlive: false })
  const steps = (
    await Promise.all(tenants.map((addresses) => stepsOf(addresses, kept, fresh)))
  ).flat()
  const answers: Answered[] = []
  const failures: Failure[] = []
  const running = new Set<Promise<void>>()
  const startedAt = performance.now()
  let sent = 0

  const send = async (step: Step, number: number): Promise<void> => {
    const sentAt = performance.now()
    const fault = await step(number).catch((error: unknown) => String(error))
    const at = performance.now()
    if (fault === undefined) answers.push({ sentAt, at })
    else failures.push({ at, what: fault })
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond
    while (sent < due) {
      const step = steps[sent % steps.length]!
      const request = send(step, sent++).finally(() => running.delete(request))
      running.add(request)
    }
  }, TICK_MS)

  return {
    failures,
    /** What overlaps these moments of `performance.now()`. */
    within: (from: number, to: number): Window => windowOf(answers, failures, from, to),
    /** Resolves when every request is answered. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      while (running.size > 0) await Promise.all(running)
      kept.destroy()
    },
  }
}

function windowOf(
  answers: readonly Answered[],
  failures: readonly Failure[],
  from: number,
  to: number,
): Window {
  const within = answers.filter(({ sentAt, at }) => at >= from && sentAt <= to)
  const moments = [from, ...within.map(({ at }) => at), to].filter((at) => at >= from && at <= to)
  const gaps = moments.map((at, index) => (index === 0 ? 0 : at - moments[index - 1]!))
  const failed = failures.filter(({ at }) => at >= from && at <= to).length
  return {
    requests: within.length + failed,
    failed,
    pauseMs: Math.max(0, ...gaps),
    slowestMs: Math.max(0, ...within.map(({ sentAt, at }) => at - sentAt)),
  }
}

async function stepsOf(
  addresses: readonly Credentials[],
  kept: Agent,
  fresh: Agent,
): Promise<readonly Step[]> {
  const over = (agent: Agent): readonly Connection[] =>
    addresses.map((address) => connect(address, { agent, timeoutMs: TIMEOUT_MS }))
  const connections = { kept: over(kept), fresh: over(fresh) }
  let turn = 0
  const next = (kind: keyof typeof connections): Connection =>
    connections[kind][turn++ % addresses.length]!

  const expecting =
    (status: number, kind: keyof typeof connections, method: string, path: string, body?: object) =>
    async (key?: string): Promise<string | undefined> => {
      const options = key === undefined ? {} : withKey(key)
      const answer = await next(kind).request(method, path, body, options)
      return answer.status === status ? undefined : `${method} ${path}: ${answer.text}`
    }
  const create = expecting(201, 'kept', 'POST', '/v1/payment_intents', anIntent())
  const createFresh = expecting(201, 'fresh', 'POST', '/v1/payment_intents', anIntent())
  const pay = expecting(202, 'kept', 'POST', '/v1/payouts', payoutBody())
  const balances = expecting(200, 'fresh', 'GET', '/v1/balances')
  const list = expecting(200, 'kept', 'GET', '/v1/payouts?limit=5')
  const fault = await create('upgrade drill')
  if (fault !== undefined) throw new Error(fault)
  return [
    (number) => create(`create ${number}`),
    () => balances(),
    (number) => pay(`pay ${number}`),
    (number) => createFresh(`create ${number}`),
    () => list(),
  ]
}
