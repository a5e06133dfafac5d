/** Payments, payouts and webhook endpoints that a recorder makes. */
import { join } from 'node:path'
import { plus, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { openReceiver, type Receiver } from '../../src/operations/partners/webhook_receiver.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { eventually } from '../support/eventually.js'
import type { Partner } from '../support/partner.js'
import { anIntent, payeeOf, payoutBody, scanOf, type IntentMembers } from '../support/requests.js'
import { expect, type Recorder } from './recorder.js'

const INTENTS = '/v1/payment_intents'

export interface Paid {
  readonly caller: string
  readonly path: string
  readonly app: ReturnType<Partner['session']>
}

export const idIn = (path: string): string => path.split('/').at(-1) ?? ''
export const atEndpoint = (id: string, rest = ''): string => `/v1/webhook_endpoints/${id}${rest}`

export function createEntities(dataDir: string, { as, keyed, frozen }: Recorder) {
  async function created(caller: string, key: string, over: IntentMembers = {}): Promise<Paid> {
    const body = anIntent({ partner_user_id: `user ${key}`, ...over })
    const { intent_id, session_token } = await keyed(caller, INTENTS, body, `create ${key}`)
    const path = `${INTENTS}/${String(intent_id)}`
    return { caller, path, app: as(caller).session(String(session_token)) }
  }

  async function quoted(caller: string, key: string, over: IntentMembers = {}): Promise<Paid> {
    const intent = await created(caller, key, over)
    expect(await intent.app.request('POST', `${intent.path}/scan`, scanOf(over.corridor)), 200)
    return intent
  }

  async function confirmed(caller: string, key: string, over: IntentMembers = {}): Promise<Paid> {
    const intent = await quoted(caller, key, over)
    const extra = { headers: { 'Idempotency-Key': `confirm ${key}` } }
    expect(await intent.app.request('POST', `${intent.path}/confirm`, undefined, extra), 200)
    return intent
  }

  async function payout(caller: string, key: string, account: string, more = {}): Promise<string> {
    const body = payoutBody({ beneficiary: payeeOf(account), ...more })
    const { id } = await keyed(caller, '/v1/payouts', body, key)
    return `/v1/payouts/${String(id)}`
  }

  /** Waits until the rail has recorded the instructions of these entities. */
  async function reachedRail(...paths: string[]): Promise<void> {
    const journal = await openDatabase(join(dataDir, 'rail.db'), { readOnly: true })
    const sql = 'SELECT id FROM instructions WHERE id IN (SELECT value FROM json_each(?))'
    const ids = JSON.stringify(paths.map(idIn))
    const areThere = async (): Promise<boolean> =>
      (await journal.all(sql, [ids])).length === paths.length
    await eventually('the rail has the instructions', areThere)
    await journal.close()
  }

  /** A receiver for one endpoint of `demo`, recorded with its secret. */
  async function endpoint(what: string, status: number): Promise<{ id: string; at: Receiver }> {
    const secrets: Record<string, string> = {}
    const at = await openReceiver({
      clock: systemClock,
      brand: 'Service',
      port: 0,
      secretOf: (keyId) => secrets[keyId],
      answer: () => status,
    })
    const body = { url: `${at.url}/hooks?from=causeway`, description: what }
    const made = expect(await as('demo').request('POST', '/v1/webhook_endpoints', body), 201)
    secrets[String(made['key_id'])] = String(made['secret'])
    frozen.endpoints.push({ id: String(made['id']), what, secrets })
    return { id: String(made['id']), at }
  }

  async function rotate(what: string, inMs: number): Promise<void> {
    const { id, secrets } = frozen.endpoints.find((one) => one.what === what)!
    const body = { activate_at: toRfc3339(plus(systemClock.now(), inMs)) }
    const made = expect(
      await as('demo').request('POST', atEndpoint(id, '/rotate_secret'), body),
      200,
    )
    Object.assign(secrets, { [String(made['key_id'])]: made['secret'] })
  }

  return { created, quoted, confirmed, payout, reachedRail, endpoint, rotate }
}
