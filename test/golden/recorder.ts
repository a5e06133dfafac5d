/**
 * Calls to a running stack whose answers a frozen DATA_DIR keeps.
 *
 * Owns: the stack of the current run, the callers, the answers. Does not own: which calls are made
 * (freeze, entities), the format (frozen).
 */
import { untilClean } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import type { Key } from '../support/operators.js'
import { wholeList } from '../support/pages.js'
import { partnerOf, type HttpAnswer, type Partner } from '../support/partner.js'
import { retryUntilFinal } from '../support/payments.js'
import { startStack, type RunningStack } from '../support/stack.js'
import type { Caller, Endpoint, Frozen, Listed } from './frozen.js'
import { PRODUCTION_HOST } from './settings.js'

/** Timers are short: the archive is made after the last one is due. */
const SHORT = { INTENT_TTL_S: '60', REVIEW_TTL_S: '60', RAIL_SUBMIT_TTL_S: '5' }

export type Recorder = ReturnType<typeof createRecorder>

/** The body of an answer with one of these statuses. @throws Error for another one */
export function expect(answer: HttpAnswer, ...statuses: number[]): Record<string, unknown> {
  if (statuses.includes(answer.status)) return answer.body as Record<string, unknown>
  throw new Error(`${answer.status} instead of ${statuses.join()}: ${answer.text}`)
}

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export function createRecorder(dataDir: string) {
  const callers: Record<string, Caller> = {}
  const frozen = {
    reads: [] as Frozen['reads'][number][],
    lists: [] as Frozen['lists'][number][],
    replays: [] as Frozen['replays'][number][],
    keys: [] as Frozen['keys'][number][],
    open: [] as Frozen['open'][number][],
    endpoints: [] as Endpoint[],
  }
  let stack: RunningStack | undefined
  const running = (): RunningStack => stack!

  function as(caller: string): Partner {
    const { keyId, secret, production } = callers[caller]!
    return partnerOf(running().sandbox, {
      keyId,
      secret,
      ...(production && { host: PRODUCTION_HOST }),
    })
  }

  const addCaller = (caller: string, { keyId, secret }: Key, production = false): void =>
    void (callers[caller] = { keyId, secret, production })

  /** A keyed call whose response is kept. */
  async function keyed(
    caller: string,
    path: string,
    body: unknown,
    key: string,
  ): Promise<Record<string, unknown>> {
    const call = (): Promise<HttpAnswer> =>
      retryUntilFinal(() =>
        as(caller).request('POST', path, body, { headers: { 'Idempotency-Key': key } }),
      )
    const first = expect(await call(), 200, 201, 202)
    const { status, text } = await call()
    frozen.replays.push({ caller, path, key, body: body ?? null, status, text })
    return first
  }

  /** Waits for this final state and keeps the response. */
  async function settled(caller: string, path: string, status: string): Promise<void> {
    const now = async (): Promise<unknown> =>
      expect(await as(caller).request('GET', path), 200)['status']
    await eventually(`${path} is ${status}`, async () => (await now()) === status, 120_000, 100)
    await read(caller, path)
  }

  async function read(caller: string, path: string): Promise<void> {
    const body = expect(await as(caller).request('GET', path), 200)
    frozen.reads.push({ caller, path, body })
  }

  async function list(caller: string, path: string): Promise<void> {
    const rows = await wholeList<Listed>(as(caller), `${path}?limit=100`)
    frozen.lists.push({ caller, path, rows })
  }

  const clean = async (): Promise<void> => {
    const { report } = await untilClean(dataDir, 60_000)
    say(report.trim().split('\n').at(-1) ?? '')
  }

  const start = async (settings: Record<string, string>): Promise<void> => {
    stack = await startStack({ dataDir, settings: { ...SHORT, ...settings } })
    const { key_id: keyId, signing_secret: secret } = running().sandbox
    addCaller('demo', { keyId, secret })
  }

  return { callers, frozen, running, start, as, addCaller, keyed, settled, read, list, clean }
}
