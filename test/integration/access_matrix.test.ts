/**
 * Every route with every valid and invalid credential, on a real stack: which requests pass, and
 * that all refusals are equal.
 *
 * The routes come from the route table, their properties from access_table.
 */
import t, { type Test } from 'tap'
import { bytesOf, proxyHeader } from '../gateway/signing_partner.js'
import { assertCleanAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { operatorCli } from '../support/operator_cli.js'
import { withKey } from '../support/partner.js'
import { sendBytes, type Headers, type RawResponse } from '../support/raw_requests.js'
import { anIntent, aPayout } from '../support/requests.js'
import {
  HOSTS,
  createResource,
  newKey,
  NO_RESOURCE,
  openAccess,
  SCAN,
  type Tenant,
  type Resource,
} from './access_tenants.js'
import {
  bearer,
  credentialsFor,
  receiptTokenFor,
  sessionTokenFor,
  signed,
  type PlainRequest,
  type Credential,
} from './access_credentials.js'
import { accessCases, pathOf, type Case } from './access_table.js'

const cases = accessCases()
const access = await openAccess(t)
const { operators } = access
const ops = operatorCli(access.stack.dataDir)

const owner = access.tenant('acme', 'sandbox', await operators.createPartner('acme'))
const ownerInProduction = access.tenant(
  'acme',
  'production',
  await operators.issueKey('acme', 'production'),
)
const otherPartner = access.tenant('umbrella', 'sandbox', await operators.createPartner('umbrella'))
const revoked = access.tenant('acme', 'sandbox', await operators.issueKey('acme', 'sandbox'))
await operators.revokeKey(revoked.key.keyId)
const [otherIntent, otherPartnersIntent] = await Promise.all([
  createResource(owner, 'captured intent'),
  createResource(otherPartner, 'captured intent'),
])

const resourceOf = async ({ resource }: Case, tenant: Tenant): Promise<Resource> =>
  resource === undefined ? NO_RESOURCE : createResource(tenant, resource)

/** The request of a case without credentials. */
async function requestOf(
  each: Case,
  resource: Resource,
  tenant: Tenant,
  id = resource.id,
): Promise<PlainRequest> {
  const body = await each.body?.(resource, tenant)
  return {
    method: each.route.method,
    path: pathOf(each, id),
    body: body === undefined ? '' : JSON.stringify(body),
  }
}

async function send(
  request: PlainRequest,
  { headers, host, query }: Credential,
): Promise<RawResponse> {
  return access.send({
    method: request.method,
    path: request.path + (query ?? ''),
    headers: [...headers(request), ['Idempotency-Key', newKey()]],
    host: host ?? owner.host,
    ...(request.body === '' ? {} : { body: request.body }),
  })
}

const credential = (headers: Credential['headers'], { host }: Tenant): Credential => ({
  opens: [],
  headers,
  host,
})

/** The credential that the route requires of the owner of the resource. */
function ownCredential({ route }: Case, tenant: Tenant, resource: Resource): Credential {
  if (route.auth === 'session') return credential(bearer(resource.sessionToken), tenant)
  if (route.auth === 'receipt') return credential(bearer(resource.receiptToken), tenant)
  return credential(signed(tenant), tenant)
}

const changesSomething = ({ name, route, success }: Case): boolean =>
  route.method !== 'GET' && success < 300 && !name.endsWith('/receipt_token')

/** Checks that an operator finds the affected entity by the request id. */
async function assertFound(
  t: Test,
  { name }: Case,
  { id }: Resource,
  { headers, body }: RawResponse,
): Promise<void> {
  const created = body as { readonly id?: string; readonly intent_id?: string }
  const entity = id === '' ? (created.intent_id ?? created.id) : id
  const found = await ops.json('find', String(headers['x-request-id']))
  const { data, actions } = found as unknown as {
    readonly data: readonly { readonly id: string }[]
    readonly actions: readonly { readonly actor: string; readonly subject: string }[]
  }
  const [byRow] = data.filter((one) => one.id === entity)
  const [byAction] = actions.filter(({ subject }) => subject === entity)
  t.ok(byRow ?? byAction, `${name}: its request id leads to ${entity}`)
  if (byAction !== undefined) t.equal(byAction.actor, 'acme_sandbox')
}

t.test('all invalid credentials get the same refusal, which changes nothing', async (t) => {
  const refusals = new Map<string, string>()
  for (const each of cases) {
    const resource = await resourceOf(each, owner)
    const context = {
      owner,
      ownerInProduction,
      revoked,
      resource,
      otherIntent,
      otherPartnersIntent,
    }
    const request = await requestOf(each, resource, owner)
    for (const [what, wrong] of Object.entries(credentialsFor(context))) {
      if (wrong.opens.includes(each.route.auth)) continue
      const answer = await send(request, wrong)
      const name = `${each.name} with ${what}`
      if (!refusals.has(answer.comparable)) refusals.set(answer.comparable, name)
      if (answer.status !== 401) t.fail(`${name}: ${answer.text}`)
    }
    const answer = await send(request, ownCredential(each, owner, resource))
    t.equal(answer.status, each.success, `${each.name} by its owner: ${answer.text}`)
    if (changesSomething(each)) await assertFound(t, each, resource, answer)
  }
  t.same([...refusals.values()], [...refusals.values()].slice(0, 1), 'all refusals are equal')
  t.match([...refusals.keys()][0], /^401 .*"code":"authentication_failed"/)
})

/** Ids of no entity, well-formed and malformed. */
const unknownIds = (id: string): readonly string[] => {
  const lastChanged = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
  const malformed = ['x', '0', 'pi_', '%00', '..', '%2e%2e', '%2F', '%E0%B8%AA', "'--", '"', 'null']
  return [
    lastChanged,
    id.toLowerCase(),
    `${id}0`,
    `%20${id}`,
    `x${id}`,
    ...malformed,
    id.repeat(17),
  ]
}

t.test('a foreign resource gets the 404 of an unknown id', async (t) => {
  for (const each of cases.filter(({ notFound }) => notFound !== '')) {
    if (each.route.auth === 'session') continue // a 401 for the token, above
    const resource = await resourceOf(each, owner)
    const requestAs = async (tenant: Tenant, id: string): Promise<RawResponse> => {
      const request = await requestOf(each, resource, owner, id)
      const own = tenant === otherPartner ? otherPartnersIntent : otherIntent
      if (each.route.auth !== 'receipt') return send(request, credential(signed(tenant), tenant))
      const token =
        tenant === ownerInProduction
          ? receiptTokenFor('acme', 'production', resource.receiptToken, 300)
          : own.receiptToken
      return send(request, credential(bearer(token), tenant))
    }
    const answers = new Map<string, string>()
    const collect = (what: string, answer: RawResponse): void => {
      answers.set(answer.comparable, what)
      t.same([answer.status, answer.code], [404, each.notFound], `${each.name}: ${what}`)
    }
    collect('another partner', await requestAs(otherPartner, resource.id))
    for (const id of unknownIds(resource.id)) collect(id, await requestAs(owner, id))
    collect('another kind of id', await requestAs(owner, `ben_${otherIntent.id.slice(3)}`))
    if (each.route.auth === 'receipt') collect('another user', await requestAs(owner, resource.id))
    const elsewhere = await requestAs(ownerInProduction, resource.id)
    if (each.sandboxOnly) t.equal(elsewhere.status, 400, `${each.name}: the other environment`)
    else collect('the other environment', elsewhere)
    t.equal(answers.size, 1, `${each.name}: all refusals are equal`)

    const request = await requestOf(each, resource, owner)
    const own = await send(request, ownCredential(each, owner, resource))
    t.equal(own.status, each.success, `${each.name}: unchanged: ${own.text}`)
  }
})

t.test('lists and ids in bodies give access to own resources only', async (t) => {
  const [payout, beneficiary, endpoint] = await Promise.all([
    createResource(owner, 'open payout'),
    createResource(owner, 'beneficiary'),
    createResource(owner, 'webhook endpoint'),
  ])
  const ids = [payout.id, beneficiary.id, endpoint.id, otherIntent.id]
  const lists = cases.filter(({ route, resource }) => route.method === 'GET' && !resource)
  const seen = new Set<string>()
  for (const each of lists) {
    const request = await requestOf(each, NO_RESOURCE, owner)
    const own = await send(request, credential(signed(owner), owner))
    for (const id of ids.filter((id) => own.text.includes(id))) seen.add(id)
    for (const tenant of [otherPartner, ownerInProduction]) {
      const { status, text } = await send(request, credential(signed(tenant), tenant))
      t.equal(status, 200)
      t.notOk(
        ids.some((id) => text.includes(id)),
        `${each.name} for ${tenant.name} in ${tenant.environment}`,
      )
    }
  }
  t.ok(seen.size >= 3, 'the owner has access')

  const { amount, currency, reference } = aPayout()
  for (const tenant of [otherPartner, ownerInProduction]) {
    const pay = (beneficiary_id: string): Promise<RawResponse> => {
      const body = JSON.stringify({ amount, currency, reference, beneficiary_id })
      return send({ method: 'POST', path: '/v1/payouts', body }, credential(signed(tenant), tenant))
    }
    const [foreign, unknown] = await Promise.all([
      pay(beneficiary.id),
      pay(`ben_${'0'.repeat(26)}`),
    ])
    t.same([foreign.status, foreign.code], [400, 'invalid_beneficiary'])
    t.equal(foreign.comparable, unknown.comparable)
  }
})

t.test('an idempotency key belongs to one partner in one environment', async (t) => {
  const ids = new Set<unknown>()
  for (const { client } of [owner, otherPartner, ownerInProduction]) {
    const answer = await client.request('POST', '/v1/payment_intents', anIntent(), withKey('same'))
    t.equal(answer.status, 201)
    ids.add((answer.body as { intent_id: string }).intent_id)
  }
  t.equal(ids.size, 3)
})

const get = (id: string): PlainRequest => ({
  method: 'GET',
  path: `/v1/payment_intents/${id}`,
  body: '',
})
const nothing: Credential = { opens: [], headers: () => [] }

t.test('a token authenticates its own operations; a consumed one only reads', async (t) => {
  const refusal = (await send(get('x'), nothing)).comparable
  const { id, receiptToken, sessionToken } = await createResource(owner, 'scanned intent')
  const as = (token: string): Credential => credential(bearer(token), owner)
  // These tokens pass, and the refused ones above are minted the same way.
  t.equal((await send(get(id), as(sessionTokenFor('acme', 'sandbox', id, 300)))).status, 200)
  const receipt = { ...get(id), path: `/v1/payment_intents/${id}/receipt` }
  const minted = receiptTokenFor('acme', 'sandbox', receiptToken, 300)
  t.equal((await send(receipt, as(minted))).status, 200)

  const post = (action: string, body: string): Promise<RawResponse> =>
    send({ method: 'POST', path: `/v1/payment_intents/${id}/${action}`, body }, as(sessionToken))
  t.equal((await post('confirm', '')).status, 200)
  t.equal((await post('confirm', '')).comparable, refusal)
  t.equal((await post('scan', JSON.stringify(SCAN))).comparable, refusal)
  for (const action of ['confirm', 'scan']) {
    t.equal((await post(action, '{')).comparable, refusal, `${action}, malformed`)
  }
  const fresh = await createResource(owner, 'scanned intent')
  const path = `/v1/payment_intents/${fresh.id}/confirm`
  const malformed = { method: 'POST', path, body: '{' }
  t.equal((await send(malformed, as(fresh.sessionToken))).status, 400, 'with an unused token')
  t.equal((await send(get(id), as(sessionToken))).status, 200, 'a consumed token still reads')
})

t.test('registered packages restrict session calls in both environments', async (t) => {
  const refusal = (await send(get('x'), nothing)).comparable
  await operators.setPackages('acme', ['com.acme.shop'])
  const { id, sessionToken } = await createResource(owner, 'created intent')
  await eventually('the gateway has received the change', async () => {
    return (await send(get(id), credential(bearer(sessionToken), owner))).status === 401
  })
  for (const tenant of [owner, ownerInProduction]) {
    const { id, sessionToken, receiptToken } = await createResource(tenant, 'created intent')
    const from = (app: string): Promise<RawResponse> =>
      send(
        get(id),
        credential(() => [...bearer(sessionToken)(), ['X-Service-Package', app]], tenant),
      )
    t.equal((await from('com.acme.shop')).status, 200)
    t.equal((await from('com.acme.shop.evil')).comparable, refusal)
    t.equal((await from('')).comparable, refusal)
    t.equal((await send(get(id), credential(bearer(sessionToken), tenant))).comparable, refusal)
    t.equal((await send(get(id), credential(signed(tenant), tenant))).status, 200, 'signed')
    const receipt = { ...get(id), path: `/v1/payment_intents/${id}/receipt` }
    t.equal((await send(receipt, credential(bearer(receiptToken), tenant))).status, 200, 'receipt')
  }
  await operators.setPackages('acme', [])
})

t.test('the IP allowlist restricts production and cannot be bypassed', async (t) => {
  const balances: PlainRequest = { method: 'GET', path: '/v1/balances', body: '' }
  const refusal = (await send(balances, nothing)).comparable
  const from = (tenant: Tenant, ...more: Headers): Promise<RawResponse> =>
    send(
      balances,
      credential((request) => [...signed(tenant)(request), ...more], tenant),
    )
  /** With a PROXY protocol header that names an allowed address. */
  const proxied = async ({ client, host }: Tenant): Promise<number> => {
    const { headers } = client.sign('GET', balances.path, '')
    const call = { ...balances, unsigned: true, headers: { ...headers } }
    const bytes = Buffer.concat([proxyHeader('203.0.113.9'), Buffer.from(bytesOf(call, host))])
    return (await sendBytes(access.stack.baseUrl, balances, bytes)).status
  }
  t.equal((await from(ownerInProduction)).status, 200, 'no restriction without a list')
  t.equal(await proxied(ownerInProduction), 200)

  await operators.setAllowedIps('acme', ['203.0.113.0/24', '2001:db8::/32'])
  const refused = await eventually('the gateway has received the change', async () => {
    const answer = await from(ownerInProduction)
    return answer.status === 401 && answer
  })
  t.equal(refused.comparable, refusal)
  const forwarded: Headers = [['X-Forwarded-For', '203.0.113.9']]
  t.equal((await from(ownerInProduction, ...forwarded)).comparable, refusal)
  t.equal(await proxied(ownerInProduction), 401)
  t.equal((await from(owner)).status, 200, 'the sandbox is not restricted')
  t.equal(await proxied(owner), 200)
  const { id, sessionToken } = await createResource(owner, 'created intent')
  t.equal((await send(get(id), credential(bearer(sessionToken), owner))).status, 200)

  await operators.setAllowedIps('acme', ['::ffff:127.0.0.0/104'])
  await eventually(
    'the address is allowed',
    async () => (await from(ownerInProduction)).status === 200,
  )
  await operators.setAllowedIps('acme', [])
})

t.test('every host name of an environment serves it; other hosts get a 404', async (t) => {
  const balances: PlainRequest = { method: 'GET', path: '/v1/balances', body: '' }
  for (const tenant of [owner, ownerInProduction]) {
    for (const name of HOSTS[tenant.environment]) {
      for (const host of [name, name.toUpperCase(), `${name}:8443`]) {
        t.equal(
          (await send(balances, { ...credential(signed(tenant), tenant), host })).status,
          200,
          host,
        )
      }
    }
  }
  for (const host of ['elsewhere.example', `x${owner.host}`, `${owner.host}.evil.example`]) {
    const { status, code } = await send(balances, { ...credential(signed(owner), owner), host })
    t.same([status, code], [404, 'not_found'], host)
  }
})

t.test('a suspended partner starts nothing new and can finish open payments', async (t) => {
  const key = await operators.createPartner('hooli')
  const tenant = access.tenant('hooli', 'sandbox', key)
  const requests = await Promise.all(
    cases.map(async (each) => {
      const resource = await resourceOf(each, tenant)
      return { each, resource, request: await requestOf(each, resource, tenant) }
    }),
  )
  const paid = await createResource(tenant, 'captured intent')
  await operators.suspend('hooli')
  for (const { each, resource, request } of requests) {
    const { status, code } = await send(request, ownCredential(each, tenant, resource))
    const expected = each.suspended === 'refused' ? [403, 'partner_suspended'] : [each.success]
    t.same([status, code].slice(0, expected.length), expected, each.name)
  }
  t.equal((await send(get(paid.id), credential(bearer(paid.sessionToken), tenant))).status, 200)
  await operators.resume('hooli')
  for (const { each, resource, request } of requests.filter(
    ({ each }) => each.suspended === 'refused',
  )) {
    const { status, text } = await send(request, ownCredential(each, tenant, resource))
    t.equal(status, each.success, `${each.name}, resumed: ${text}`)
  }
})

t.test('the audit finds no violation', (t) => assertCleanAudit(t, access.stack.dataDir))
