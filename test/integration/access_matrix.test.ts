/**
 * Every route of the table before every proof, on a real stack: who passes, what the others are
 * told, and that it is the same bytes whatever was wrong.
 *
 * Routes come from the route table; what must be known of each stands in access_table.
 */
import t from 'tap'
import { bytesOf, roundTrip, proxyHeader, statusOf } from '../gateway/signing_partner.js'
import { auditOf } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { anIntent, aPayout } from '../support/requests.js'
import {
  HOSTS,
  makeSubject,
  newKey,
  NO_SUBJECT,
  openAccess,
  SCAN,
  type AccessResponse,
  type Headers,
  type Party,
  type Subject,
} from './access_parties.js'
import {
  bearing,
  proofsOf,
  receiptTokenFor,
  sessionTokenFor,
  signed,
  type Bare,
  type Proof,
} from './access_proofs.js'
import { accessCases, pathOf, type Case } from './access_table.js'

const cases = accessCases()
const access = await openAccess(t)
const { operators } = access

const owner = access.party('acme', 'sandbox', await operators.createPartner('acme'))
const ownerInProduction = access.party(
  'acme',
  'production',
  await operators.issueKey('acme', 'production'),
)
const stranger = access.party('umbrella', 'sandbox', await operators.createPartner('umbrella'))
const revoked = access.party('acme', 'sandbox', await operators.issueKey('acme', 'sandbox'))
await operators.revokeKey(revoked.key.keyId)
const [otherIntent, strangersIntent] = await Promise.all([
  makeSubject(owner, 'captured intent'),
  makeSubject(stranger, 'captured intent'),
])

const subjectOf = async ({ subject }: Case, party: Party): Promise<Subject> =>
  subject === undefined ? NO_SUBJECT : makeSubject(party, subject)

/** The call of a case without its proof. */
async function bareOf(each: Case, subject: Subject, party: Party, id = subject.id): Promise<Bare> {
  const body = await each.body?.(subject, party)
  return {
    method: each.route.method,
    path: pathOf(each, id),
    body: body === undefined ? '' : JSON.stringify(body),
  }
}

async function send(bare: Bare, { headers, host, query }: Proof): Promise<AccessResponse> {
  return access.send({
    method: bare.method,
    path: bare.path + (query ?? ''),
    headers: [...headers(bare), ['Idempotency-Key', newKey()]],
    host: host ?? owner.host,
    ...(bare.body === '' ? {} : { body: bare.body }),
  })
}

const proof = (headers: Proof['headers'], { host }: Party): Proof => ({ opens: [], headers, host })

/** The proof with which a party asks for a subject of its own, as the route wants it. */
function ownProof({ route }: Case, party: Party, subject: Subject): Proof {
  if (route.auth === 'session') return proof(bearing(subject.sessionToken), party)
  if (route.auth === 'receipt') return proof(bearing(subject.receiptToken), party)
  return proof(signed(party), party)
}

t.test('one refusal for everybody who proves nothing, and it changes nothing', async (t) => {
  const refusals = new Map<string, string>()
  for (const each of cases) {
    const subject = await subjectOf(each, owner)
    const demo = { owner, ownerInProduction, revoked, subject, otherIntent, strangersIntent }
    const bare = await bareOf(each, subject, owner)
    for (const [what, wrong] of Object.entries(proofsOf(demo))) {
      if (wrong.opens.includes(each.route.auth)) continue
      const answer = await send(bare, wrong)
      const name = `${each.name} with ${what}`
      if (!refusals.has(answer.comparable)) refusals.set(answer.comparable, name)
      if (answer.status !== 401) t.fail(`${name}: ${answer.text}`)
    }
    const answer = await send(bare, ownProof(each, owner, subject))
    t.equal(answer.status, each.success, `${each.name} by its owner: ${answer.text}`)
  }
  t.same([...refusals.values()], [...refusals.values()].slice(0, 1), 'all bytes are the same')
  t.match([...refusals.keys()][0], /^401 .*"code":"authentication_failed"/)
})

/** Ids that no entity has, or that no id looks like. */
const idsOfNothing = (id: string): readonly string[] => {
  const lastChanged = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
  const unlike = ['x', '0', 'pi_', '%00', '..', '%2e%2e', '%2F', '%E0%B8%AA', "'--", '"', 'null']
  return [lastChanged, id.toLowerCase(), `${id}0`, `%20${id}`, `x${id}`, ...unlike, id.repeat(17)]
}

t.test('of what is not his own nobody learns that it is there', async (t) => {
  for (const each of cases.filter(({ notFound }) => notFound !== '')) {
    if (each.route.auth === 'session') continue // told by the token: a 401, above
    const subject = await subjectOf(each, owner)
    const asked = async (party: Party, id: string): Promise<AccessResponse> => {
      const bare = await bareOf(each, subject, owner, id)
      const its = party === stranger ? strangersIntent : otherIntent
      if (each.route.auth !== 'receipt') return send(bare, proof(signed(party), party))
      const token =
        party === ownerInProduction
          ? receiptTokenFor('acme', 'production', subject.receiptToken, 300)
          : its.receiptToken
      return send(bare, proof(bearing(token), party))
    }
    const answers = new Map<string, string>()
    const collect = (what: string, answer: AccessResponse): void => {
      answers.set(answer.comparable, what)
      t.same([answer.status, answer.code], [404, each.notFound], `${each.name}: ${what}`)
    }
    collect('a stranger', await asked(stranger, subject.id))
    for (const id of idsOfNothing(subject.id)) collect(id, await asked(owner, id))
    collect('another kind of id', await asked(owner, `ben_${otherIntent.id.slice(3)}`))
    if (each.route.auth === 'receipt') collect('another user', await asked(owner, subject.id))
    const elsewhere = await asked(ownerInProduction, subject.id)
    if (each.sandboxOnly) t.equal(elsewhere.status, 400, `${each.name}: the other environment`)
    else collect('the other environment', elsewhere)
    t.equal(answers.size, 1, `${each.name}: all bytes are the same`)

    const bare = await bareOf(each, subject, owner)
    const own = await send(bare, ownProof(each, owner, subject))
    t.equal(own.status, each.success, `${each.name}: unharmed: ${own.text}`)
  }
})

t.test('a list, and an id in a body, reach no further', async (t) => {
  const [payout, beneficiary, endpoint] = await Promise.all([
    makeSubject(owner, 'open payout'),
    makeSubject(owner, 'beneficiary'),
    makeSubject(owner, 'webhook endpoint'),
  ])
  const ids = [payout.id, beneficiary.id, endpoint.id, otherIntent.id]
  const lists = cases.filter(({ route, subject }) => route.method === 'GET' && !subject)
  const seen = new Set<string>()
  for (const each of lists) {
    const bare = await bareOf(each, NO_SUBJECT, owner)
    const own = await send(bare, proof(signed(owner), owner))
    for (const id of ids.filter((id) => own.text.includes(id))) seen.add(id)
    for (const party of [stranger, ownerInProduction]) {
      const { status, text } = await send(bare, proof(signed(party), party))
      t.equal(status, 200)
      t.notOk(
        ids.some((id) => text.includes(id)),
        `${each.name} for ${party.name} in ${party.environment}`,
      )
    }
  }
  t.ok(seen.size >= 3, 'and its owner sees them')

  const { amount, currency, reference } = aPayout()
  for (const party of [stranger, ownerInProduction]) {
    const pay = (beneficiary_id: string): Promise<AccessResponse> => {
      const body = JSON.stringify({ amount, currency, reference, beneficiary_id })
      return send({ method: 'POST', path: '/v1/payouts', body }, proof(signed(party), party))
    }
    const [foreign, unknown] = await Promise.all([
      pay(beneficiary.id),
      pay(`ben_${'0'.repeat(26)}`),
    ])
    t.same([foreign.status, foreign.code], [400, 'invalid_beneficiary'])
    t.equal(foreign.comparable, unknown.comparable)
  }
})

t.test('a key of idempotency belongs to one partner in one environment', async (t) => {
  const ids = new Set<unknown>()
  for (const { client } of [owner, stranger, ownerInProduction]) {
    const answer = await client.request('POST', '/v1/payment_intents', anIntent(), {
      headers: { 'Idempotency-Key': 'the very same' },
    })
    t.equal(answer.status, 201)
    ids.add((answer.body as { intent_id: string }).intent_id)
  }
  t.equal(ids.size, 3)
})

const get = (id: string): Bare => ({
  method: 'GET',
  path: `/v1/payment_intents/${id}`,
  body: '',
})
const nothing: Proof = { opens: [], headers: () => [] }

t.test('a token opens what it is for, and no more once it is used up', async (t) => {
  const refusal = (await send(get('x'), nothing)).comparable
  const { id, receiptToken, sessionToken } = await makeSubject(owner, 'scanned intent')
  const as = (token: string): Proof => proof(bearing(token), owner)
  // The tokens of the refusals above were made like these, which pass.
  t.equal((await send(get(id), as(sessionTokenFor('acme', 'sandbox', id, 300)))).status, 200)
  const receipt = { ...get(id), path: `/v1/payment_intents/${id}/receipt` }
  const alike = receiptTokenFor('acme', 'sandbox', receiptToken, 300)
  t.equal((await send(receipt, as(alike))).status, 200)

  const post = (action: string, body: string): Promise<AccessResponse> =>
    send({ method: 'POST', path: `/v1/payment_intents/${id}/${action}`, body }, as(sessionToken))
  t.equal((await post('confirm', '')).status, 200)
  t.equal((await post('confirm', '')).comparable, refusal)
  t.equal((await post('scan', JSON.stringify(SCAN))).comparable, refusal)
  for (const action of ['confirm', 'scan']) {
    t.equal((await post(action, '{')).comparable, refusal, `${action}, malformed`)
  }
  const fresh = await makeSubject(owner, 'scanned intent')
  const path = `/v1/payment_intents/${fresh.id}/confirm`
  const malformed = { method: 'POST', path, body: '{' }
  t.equal((await send(malformed, as(fresh.sessionToken))).status, 400, 'with one that is not used')
  t.equal((await send(get(id), as(sessionToken))).status, 200, 'a used one still fetches')
})

t.test('registered packages gate session calls, in both environments', async (t) => {
  const refusal = (await send(get('x'), nothing)).comparable
  await operators.setPackages('acme', ['com.acme.shop'])
  const { id, sessionToken } = await makeSubject(owner, 'created intent')
  await eventually('the gateway heard', async () => {
    return (await send(get(id), proof(bearing(sessionToken), owner))).status === 401
  })
  for (const party of [owner, ownerInProduction]) {
    const { id, sessionToken, receiptToken } = await makeSubject(party, 'created intent')
    const from = (app: string): Promise<AccessResponse> =>
      send(
        get(id),
        proof(() => [...bearing(sessionToken)(), ['X-Service-Package', app]], party),
      )
    t.equal((await from('com.acme.shop')).status, 200)
    t.equal((await from('com.acme.shop.evil')).comparable, refusal)
    t.equal((await from('')).comparable, refusal)
    t.equal((await send(get(id), proof(bearing(sessionToken), party))).comparable, refusal)
    t.equal((await send(get(id), proof(signed(party), party))).status, 200, 'signed')
    const receipt = { ...get(id), path: `/v1/payment_intents/${id}/receipt` }
    t.equal((await send(receipt, proof(bearing(receiptToken), party))).status, 200, 'receipt')
  }
  await operators.setPackages('acme', [])
})

t.test('a list of addresses fences production, and nobody talks his way in', async (t) => {
  const balances: Bare = { method: 'GET', path: '/v1/balances', body: '' }
  const refusal = (await send(balances, nothing)).comparable
  const from = (party: Party, ...more: Headers): Promise<AccessResponse> =>
    send(
      balances,
      proof((bare) => [...signed(party)(bare), ...more], party),
    )
  /** Behind a PROXY protocol header that names an address of the list. */
  const proxied = async ({ client, host }: Party): Promise<number> => {
    const { headers } = client.sign('GET', balances.path, '')
    const call = { ...balances, unsigned: true, headers: { ...headers } }
    const bytes = Buffer.concat([proxyHeader('203.0.113.9'), Buffer.from(bytesOf(call, host))])
    const port = Number(new URL(access.stack.baseUrl).port)
    return statusOf((await roundTrip(port, bytes, 5_000)).text)
  }
  t.equal((await from(ownerInProduction)).status, 200, 'no list, no fence')
  t.equal(await proxied(ownerInProduction), 200)

  await operators.setAllowedIps('acme', ['203.0.113.0/24', '2001:db8::/32'])
  const refused = await eventually('the gateway heard', async () => {
    const answer = await from(ownerInProduction)
    return answer.status === 401 && answer
  })
  t.equal(refused.comparable, refusal)
  const believed: Headers = [['X-Forwarded-For', '203.0.113.9']]
  t.equal((await from(ownerInProduction, ...believed)).comparable, refusal)
  t.equal(await proxied(ownerInProduction), 401)
  t.equal((await from(owner)).status, 200, 'the sandbox has none')
  t.equal(await proxied(owner), 200)
  const { id, sessionToken } = await makeSubject(owner, 'created intent')
  t.equal((await send(get(id), proof(bearing(sessionToken), owner))).status, 200)

  await operators.setAllowedIps('acme', ['::ffff:127.0.0.0/104'])
  await eventually('it is on the list', async () => (await from(ownerInProduction)).status === 200)
  await operators.setAllowedIps('acme', [])
})

t.test('names of an environment are alike, others are nobody', async (t) => {
  const balances: Bare = { method: 'GET', path: '/v1/balances', body: '' }
  for (const party of [owner, ownerInProduction]) {
    for (const name of HOSTS[party.environment]) {
      for (const host of [name, name.toUpperCase(), `${name}:8443`]) {
        t.equal((await send(balances, { ...proof(signed(party), party), host })).status, 200, host)
      }
    }
  }
  for (const host of ['elsewhere.example', `x${owner.host}`, `${owner.host}.evil.example`]) {
    const { status, code } = await send(balances, { ...proof(signed(owner), owner), host })
    t.same([status, code], [404, 'not_found'], host)
  }
})

t.test('a suspended partner starts nothing new, and what is under way goes on', async (t) => {
  const key = await operators.createPartner('hooli')
  const party = access.party('hooli', 'sandbox', key)
  const asked = await Promise.all(
    cases.map(async (each) => {
      const subject = await subjectOf(each, party)
      return { each, subject, bare: await bareOf(each, subject, party) }
    }),
  )
  const paid = await makeSubject(party, 'captured intent')
  await operators.suspend('hooli')
  for (const { each, subject, bare } of asked) {
    const { status, code } = await send(bare, ownProof(each, party, subject))
    const printed = each.suspended === 'refused' ? [403, 'partner_suspended'] : [each.success]
    t.same([status, code].slice(0, printed.length), printed, each.name)
  }
  t.equal((await send(get(paid.id), proof(bearing(paid.sessionToken), party))).status, 200)
  await operators.resume('hooli')
  for (const { each, subject, bare } of asked.filter(({ each }) => each.suspended === 'refused')) {
    const { status, text } = await send(bare, ownProof(each, party, subject))
    t.equal(status, each.success, `${each.name}, resumed: ${text}`)
  }
})

t.test('the books are in order', async (t) => {
  const { clean, report } = await auditOf(access.stack.dataDir)
  t.ok(clean, report)
})
