/**
 * Clients of one partner that create and read intents through every gateway, and their results.
 *
 * - A key belongs to one entity: each creation is repeated under its key, also after its answer and
 *   through another gateway.
 * - The state of an entity never regresses.
 * - A pause is the time between two answers with success, of the same client.
 */
import { systemPause } from '../../src/base/clock.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { mayFollow, pathOf } from '../support/lifecycle.js'
import type { HttpAnswer, Partner } from '../support/partner.js'
import { requestIntent } from '../support/payments.js'
import { startLoop } from '../workload/loop.js'

export interface History {
  readonly acknowledged: readonly string[]
  /** Violations, one per line. */
  readonly violations: readonly string[]
  /** Milliseconds; those of at least PAUSE_FROM_MS. */
  readonly pauses: readonly number[]
  /** Time of the last success, from `performance.now()`. */
  lastSuccess(): number
  stop(): Promise<void>
}

export const PAUSE_FROM_MS = 500
const NEXT_AFTER_MS = 25
const CREATED_AT_ONCE = 20

/** Creates intents with the keys `intent 0`, `intent 1` … @returns the answers */
export async function createIntents(partner: Partner, count: number): Promise<HttpAnswer[]> {
  const answers: HttpAnswer[] = []
  while (answers.length < count) {
    const keys = Array.from({ length: CREATED_AT_ONCE }, (_, index) => answers.length + index)
    answers.push(...(await Promise.all(keys.map((key) => createIntent(partner, key)))))
  }
  return answers
}

/** Repeated it has its first answer, so a call whose idle connection is just closed is repeated. */
export function createIntent(partner: Partner, key: number): Promise<HttpAnswer> {
  const call = (): Promise<HttpAnswer> => requestIntent(partner, `intent ${key}`)
  return call().catch(call)
}

/**
 * @param gateways connections of the partner, one to each gateway
 * @param pauseMs after each creation with its repetition and its read
 */
export function startHistory(
  name: string,
  gateways: readonly Partner[],
  random: SeededRandom,
  pauseMs = NEXT_AFTER_MS,
): History {
  const acknowledged: string[] = []
  const violations: string[] = []
  const pauses: number[] = []
  const states = new Map<string, string>()
  let last = performance.now()

  /** Repeats until a success, or until stopped. */
  const succeed = async (call: (partner: Partner) => Promise<HttpAnswer>) => {
    for (;;) {
      const answer = await call(random.pick(gateways)).catch(() => undefined)
      if (answer !== undefined && answer.status < 300) {
        const now = performance.now()
        if (now - last >= PAUSE_FROM_MS) pauses.push(now - last)
        last = now
        return answer.body as Record<string, unknown>
      }
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
        violations.push(`${name}: ${answer.status} ${answer.text}`)
      }
      if (loop.isStopping()) return undefined
      await systemPause(NEXT_AFTER_MS)
    }
  }

  const create = async (key: string): Promise<string | undefined> => {
    const user = { partner_user_id: `${name} ${key}` }
    const body = await succeed((partner) => requestIntent(partner, key, user))
    return body?.['intent_id'] as string | undefined
  }

  const read = async (id: string): Promise<void> => {
    const body = await succeed((partner) => partner.request('GET', pathOf(id)))
    if (body === undefined) return
    const status = String(body['status'])
    const before = states.get(id)
    states.set(id, status)
    if (before !== undefined && !mayFollow('intent', before, status))
      violations.push(`${id} went from ${before} to ${status}`)
  }

  const loop = startLoop(async (number) => {
    const key = `${name} ${number}`
    const id = await create(key)
    if (id === undefined) return
    acknowledged.push(id)
    const again = await create(key)
    if (again !== undefined && again !== id) violations.push(`${key} is ${id} and ${again}`)
    await read(acknowledged[random.int(acknowledged.length)] ?? id)
  }, pauseMs)

  return {
    ...{ acknowledged, violations, pauses },
    lastSuccess: () => last,
    stop: loop.stop,
  }
}
