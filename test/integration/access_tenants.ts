/** The tenants of the access tests on a real stack, their resources and their requests. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ENDPOINTS_PER_TENANT_MAX } from '../../src/base/constants.js'
import type { Environment } from '../../src/base/ids.js'
import { operatorsOf, type Key, type Operators } from '../support/operators.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { payByQr, untilStatus } from '../support/payments.js'
import { openRawConnection, type RawRequest, type RawResponse } from '../support/raw_requests.js'
import { anIntent, payeeOf, payoutBody, scanOf } from '../support/requests.js'
import { startStack, type RunningStack } from '../support/stack.js'

/** Canonical name first, then a legacy one. */
export const HOSTS = {
  sandbox: ['sandbox.example', 'sandbox.legacy.example'],
  production: ['api.example', 'api.legacy.example'],
} as const

export const MASTER_KEY = Buffer.alloc(32, 7)

/** A partner in one environment. */
export interface Tenant {
  readonly name: string
  readonly environment: Environment
  readonly key: Key
  readonly host: string
  readonly client: Partner
}

export interface AccessHarness {
  readonly stack: RunningStack
  readonly operators: Operators
  /** Sends the path without resolving dots or decoding. */
  send(request: RawRequest): Promise<RawResponse>
  tenant(name: string, environment: Environment, key: Key): Tenant
}

export async function openAccess(
  t: Test,
  settings: Record<string, string> = {},
): Promise<AccessHarness> {
  const masterKeyFile = join(tempFolder(t), 'master.key')
  writeFileSync(masterKeyFile, `k1:${MASTER_KEY.toString('hex')}\n`, { mode: 0o600 })
  const stack = await startStack({
    t,
    settings: {
      SANDBOX_HOSTS: HOSTS.sandbox.join(),
      PRODUCTION_HOSTS: HOSTS.production.join(),
      ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes',
      MASTER_KEY_FILE: masterKeyFile,
      WEBHOOK_ALLOW_PRIVATE: 'false',
      RAIL_DELAY_MS: '10',
      RATE_LIMIT: 'off',
      ...settings,
    },
  })
  const operators = operatorsOf(stack)
  t.teardown(() => operators.close())
  const connection = openRawConnection(stack.baseUrl)
  t.teardown(() => connection.destroy())
  return {
    stack,
    operators,
    send: connection.send,
    tenant: (name, environment, key) => {
      const host = HOSTS[environment][0]
      return { name, environment, key, host, client: partnerOf(stack.sandbox, { ...key, host }) }
    },
  }
}

export const newKey = (): string => randomBytes(16).toString('hex')

/** The resources that a path can name. */
export type ResourceKind =
  | 'created intent'
  | 'scanned intent'
  | 'captured intent'
  | 'open payout'
  | 'beneficiary'
  | 'webhook endpoint'
  | 'event'

export interface Resource {
  readonly id: string
  /** Empty unless it is an intent. Each intent has its own user. */
  readonly user: string
  readonly sessionToken: string
  readonly receiptToken: string
}

export const NO_RESOURCE: Resource = { id: '', user: '', sessionToken: '', receiptToken: '' }

export const SCAN = scanOf()

/** Payouts to this account stay `processing`. */
const OPEN_ACCOUNT = '9990000008'

/** The members of responses that these tests read. */
interface Body {
  readonly id: string
  readonly intent_id: string
  readonly session_token: string
  readonly receipt_token: string
  readonly data: readonly { readonly id: string; readonly event?: { readonly id: string } }[]
}

async function bodyOf(answer: Promise<HttpAnswer>): Promise<Body> {
  const { status, text, body } = await answer
  if (status >= 300) throw new Error(`${status} ${text}`)
  return body as Body
}

export async function createResource(tenant: Tenant, kind: ResourceKind): Promise<Resource> {
  const post = (path: string, body: unknown) => {
    return bodyOf(tenant.client.request('POST', path, body, withKey(newKey())))
  }
  const made = (id: string): Resource => ({ ...NO_RESOURCE, id })
  switch (kind) {
    case 'open payout':
      return made(
        (await post('/v1/payouts', payoutBody({ beneficiary: payeeOf(OPEN_ACCOUNT) }))).id,
      )
    case 'beneficiary':
      return made((await post('/v1/beneficiaries', payoutBody().beneficiary)).id)
    case 'webhook endpoint':
      await deleteEndpoints(tenant)
      return made((await post('/v1/webhook_endpoints', { url: 'https://shop.example/hook' })).id)
    case 'event': {
      await createResource(tenant, 'open payout')
      const [first] = await listed(tenant, '/v1/events?limit=1')
      return made(first?.event?.id ?? 'none')
    }
    default:
      return makeIntent(tenant, kind)
  }
}

const listed = async ({ client }: Tenant, path: string): Promise<Body['data']> =>
  (await bodyOf(client.request('GET', path))).data

/** Deletes the endpoints of earlier cases before the limit is reached. */
async function deleteEndpoints(tenant: Tenant): Promise<void> {
  const path = '/v1/webhook_endpoints'
  const endpoints = await listed(tenant, path)
  if (endpoints.length < ENDPOINTS_PER_TENANT_MAX - 4) return
  for (const { id } of endpoints) await bodyOf(tenant.client.request('DELETE', `${path}/${id}`))
}

type IntentKind = Extract<ResourceKind, `${string} intent`>

async function makeIntent({ client }: Tenant, kind: IntentKind): Promise<Resource> {
  const user = `user ${newKey()}`
  const { id, token } =
    kind === 'captured intent'
      ? await payByQr(client, newKey(), { partner_user_id: user })
      : await createdIntent(client, user)
  const path = `/v1/payment_intents/${id}`
  if (kind === 'captured intent') await untilStatus(client, path, 'captured')
  if (kind === 'scanned intent') {
    await bodyOf(client.session(token).request('POST', `${path}/scan`, SCAN))
  }
  const { receipt_token } = await bodyOf(client.request('POST', `${path}/receipt_token`))
  return { id, user, sessionToken: token, receiptToken: receipt_token }
}

async function createdIntent(
  client: Partner,
  user: string,
): Promise<{ id: string; token: string }> {
  const request = { ...anIntent(), partner_user_id: user }
  const created = await bodyOf(client.request('POST', '/v1/payment_intents', request))
  return { id: created.intent_id, token: created.session_token }
}
