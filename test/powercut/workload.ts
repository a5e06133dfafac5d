/**
 * Payments on a real stack whose database writes are recorded, with the trace position of every
 * response.
 *
 * Owns: building and loading the recorder, the calls. Does not own: the files after a power cut
 * (trace), their checks (check).
 *
 * - The position of a response is the trace's length on its arrival: everything it depends on was
 *   recorded before.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import type { Credentials } from '../../src/client/index.js'
import { throughEachCall } from '../support/each_call.js'
import { withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import {
  expected,
  payByQr,
  payOut,
  requestDeposit,
  retryUntilFinal,
  untilStatus,
} from '../support/payments.js'
import { receiverOf } from '../support/receiver.js'
import { startStack } from '../support/stack.js'
import { readTrace, type Trace } from './trace.js'

/** Long enough for the repeated calls. */
export const SETTINGS = {
  RAIL_DELAY_MS: '20',
  RATE_LIMIT: 'off',
  RAIL_SUBMIT_TTL_S: '3600',
  SESSION_TTL_S: '900',
}

export interface RepeatableCall {
  readonly path: string
  readonly body: unknown
  readonly key: string
  /** The session token that replaces a signature. */
  readonly token: string | undefined
}

export interface Acknowledged {
  readonly kind: 'payout' | 'intent' | 'confirm' | 'deposit' | 'ended'
  /** The id of the payout, intent or deposit. */
  readonly id: string
  readonly position: number
  /** A call to repeat after a cut, and its response. */
  readonly call?: RepeatableCall
  readonly text: string
}

export interface Recording {
  readonly trace: Trace
  readonly acknowledged: readonly Acknowledged[]
  /** The folder of the stack that was recorded. */
  readonly dataDir: string
  readonly partner: Pick<Credentials, 'keyId' | 'secret'>
  /** Ends the receiver of its webhooks, and removes the folder. */
  close(): Promise<void>
}

const TRACE = 'powercut.trace'
/** By the last part of the path. */
const KIND_OF: Readonly<Record<string, Acknowledged['kind']>> = {
  payouts: 'payout',
  payment_intents: 'intent',
  confirm: 'confirm',
  deposits: 'deposit',
}
const CLIENTS = 4

export function send(
  partner: Partner,
  { path, body, key, token }: RepeatableCall,
): Promise<HttpAnswer> {
  const by = token === undefined ? partner : partner.session(token)
  return retryUntilFinal(() => by.request('POST', path, body, withKey(key)))
}

/** @param rounds of each of the clients: a payout, a deposit and an intent that is paid */
export async function record(rounds: number): Promise<Recording> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-powercut-'))
  const trace = join(dataDir, TRACE)
  writeFileSync(trace, '')
  const stack = await startStack({
    dataDir,
    settings: { ...SETTINGS, LD_PRELOAD: buildRecorder() },
  })
  const { partner } = stack
  const receiver = await receiverOf(partner)
  const acknowledged: Acknowledged[] = []
  const note = (given: Omit<Acknowledged, 'position'>): void =>
    void acknowledged.push({ ...given, position: statSync(trace).size })

  /** Acknowledgements of its calls are recorded. */
  const payer = throughEachCall(partner, async (make, { method, path, body, options, token }) => {
    const answer = await make()
    const kind = KIND_OF[path.split('/').at(-1) ?? '']
    if (method !== 'POST' || kind === undefined || answer.status >= 300) return answer
    const { id = '', intent_id = id } = answer.body as Readonly<Record<string, string>>
    const key = options?.headers?.['Idempotency-Key'] ?? ''
    note({ kind, id: intent_id, call: { path, body, key, token }, text: answer.text })
    return answer
  })

  const payOutUntilEnd = async (key: string): Promise<void> => {
    const id = await payOut(payer, key)
    const ended = await untilStatus(partner, `/v1/payouts/${id}`, 'completed')
    note({ kind: 'ended', id, text: JSON.stringify(ended) })
  }
  const deposit = async (key: string): Promise<void> => {
    expected(await retryUntilFinal(() => requestDeposit(payer, `deposit ${key}`, '1000')), 201)
  }
  const client = async (name: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const key = `${name} ${round}`
      await Promise.all([payOutUntilEnd(`payout ${key}`), payByQr(payer, key), deposit(key)])
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, name) => client(name)))
  await stack.stop()
  const { key_id: keyId, signing_secret: secret } = stack.sandbox
  return {
    trace: readTrace(trace),
    acknowledged,
    dataDir,
    partner: { keyId, secret },
    close: async () => {
      await receiver.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

/** @returns the library's file */
function buildRecorder(): string {
  const source = join(projectRoot(), 'test/powercut/preload.c')
  const folder = join(projectRoot(), '.build/powercut')
  mkdirSync(folder, { recursive: true })
  const library = join(folder, `preload-${process.pid}.so`)
  execFileSync('cc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', library, source, '-ldl'])
  process.once('exit', () => rmSync(library, { force: true }))
  return library
}
