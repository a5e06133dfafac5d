/** Callers that operators create, rotate and revoke, against a real server. */
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { CallerRecord } from '../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { CallerToken } from '../../protos/types/causeway/operator/v1/CallerToken.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import { bearer } from '../../src/grpc/bearer.js'
import { MINUTE } from '../../src/base/clock.js'
import { contracts } from '../../src/grpc/contracts.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { inBooks } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import { callsTo } from '../support/rpc_calls.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld, DEMO, viewOf } from '../support/world.js'

const FIRST = 'token-of-the-first-operator'
const TENANT = { partner_id: 'demo', environment: 'sandbox' }
async function openCallers(t: Test) {
  const world = await createWorld(t)
  const configured = [
    callerEntry('operator', 'root', FIRST),
    callerEntry('gateway', 'gateway', 'token-of-the-gateway'),
  ].map(configuredCaller)
  const callers = createCallers(configured, world.clock, world.memory().callers)
  const { address } = await serveShard(t, { world, callers })
  const { causeway } = contracts<CommandStreamProto & EventsProto>()
  const at = [address, credentials.createInsecure()] as const
  const events = new causeway.v1.Events(...at)
  const gateway = new causeway.internal.v1.CommandStream(...at)
  t.teardown(() => [events, gateway].forEach((client) => client.close()))
  const call = callsTo(t, address, FIRST)
  const actor = { reason: 'a test' }
  /** The status of a call with another token. */
  const ends = async (rpc: string, request: object, token: string): Promise<string> =>
    (await call(rpc, request, bearer(token))).status ?? 'OK'
  return {
    world,
    gateway,
    create: (given: object) => call<CallerToken>('Callers/Create', { actor, ...given }),
    rotate: (name: string, token = FIRST, digest?: string) => {
      const request = { actor, name, ...(digest && { token_sha256: digest }) }
      return call<CallerToken>('Callers/Rotate', request, bearer(token))
    },
    revoke: (name: string) => call<CallerRecord>('Callers/Revoke', { actor, name }),
    list: () => call<{ data: CallerRecord[] }>('Callers/List'),
    /** A read of operators. */
    reads: (token: string) => ends('PartnerAdmin/List', {}, token),
    suspends: (token: string) =>
      ends('PartnerAdmin/Suspend', { actor, partner_id: 'nobody' }, token),
    balances: (token: string, partner_id: string) =>
      ends('Payouts/Balances', { tenant: { ...TENANT, partner_id } }, token),
    /** `OPEN`, or the status that ends the stream. */
    watch: (token: string, partner_id: string): Promise<string> =>
      new Promise((resolve) => {
        const stream = events.Watch({ tenant: { ...TENANT, partner_id } }, bearer(token))
        stream.on('data', () => resolve('OPEN'))
        stream.on('error', ({ code }: ServiceError) => resolve(status[code]))
        t.teardown(() => stream.cancel())
      }),
  }
}

t.test('an operator may call what its roles permit', async (t) => {
  const { create, reads, suspends, list, world } = await openCallers(t)
  const created = await create({ kind: 'operator', name: 'nid', roles: ['read'] })
  t.match(created, {
    caller: { name: 'nid', roles: ['read'], status: 'active' },
    token: /^op_.{43}$/,
  })
  const token = created.token ?? ''
  t.equal(await reads(token), 'OK')
  t.equal(await suspends(token), 'PERMISSION_DENIED')
  const { data } = await list()
  t.match(data, [
    { name: 'gateway', kind: 'gateway', configured: true },
    { name: 'nid', kind: 'operator', configured: false, last_used_at: /Z$/ },
    { name: 'root', kind: 'operator', configured: true, roles: ['read', 'operate', 'decide'] },
  ])
  const stored = JSON.stringify([...world.memory().callers.values()])
  t.notMatch(stored, token, 'only the digest is kept')
  t.match(stored, tokenDigest(token))
})

t.test('a console by itself may call nothing', async (t) => {
  const { create, reads, revoke, list } = await openCallers(t)
  const { token = '' } = await create({ kind: 'console', name: 'console-1' })
  t.match(token, /^co_.{43}$/)
  t.equal(await reads(token), 'UNAUTHENTICATED')
  t.match(await revoke('console-1'), { kind: 'console', status: 'revoked' })
  t.match((await list()).data, [{ name: 'console-1', status: 'revoked' }])
})

t.test('invalid callers are refused', async (t) => {
  const { create } = await openCallers(t)
  await create({ kind: 'service', name: 'ledger' })
  for (const [given, code] of [
    [{ kind: 'operator', name: 'nid' }, 'invalid_request'],
    [{ kind: 'operator', name: 'nid', roles: ['root'] }, 'invalid_request'],
    [{ kind: 'service', name: 'nid', roles: ['decide'] }, 'invalid_request'],
    [{ kind: 'console', name: 'nid', roles: ['read'] }, 'invalid_request'],
    [{ kind: 'supervisor', name: 'nid' }, 'invalid_request'],
    [{ kind: 'operator', name: 'a b', roles: ['read'] }, 'invalid_request'],
    [{ kind: 'gateway', name: 'edge', partners: ['demo'] }, 'invalid_request'],
    [{ kind: 'service', name: 'nid', partners: ['nobody'] }, 'partner_not_found'],
    [{ kind: 'service', name: 'ledger' }, 'caller_exists'],
    [{ kind: 'operator', name: 'root', roles: ['read'] }, 'caller_exists'],
  ] as const) {
    const refused = await create(given)
    t.equal(refused.code, code, JSON.stringify(given))
  }
})

t.test('a rotated token expires after ten minutes and is never valid again', async (t) => {
  const { world, rotate, reads } = await openCallers(t)
  const rotated = await rotate('root')
  const second = rotated.token ?? ''
  t.match(rotated.previous_until, /Z$/)
  t.same([await reads(FIRST), await reads(second)], ['OK', 'OK'])
  world.clock.pass(10 * MINUTE)
  t.same(
    [await reads(FIRST), await reads(second)],
    ['UNAUTHENTICATED', 'OK'],
    'although the setting still contains the first token',
  )
  const third = (await rotate('root', second)).token ?? ''
  const fourth = (await rotate('root', third)).token ?? ''
  t.same(
    [await reads(second), await reads(third), await reads(fourth)],
    ['UNAUTHENTICATED', 'OK', 'OK'],
    'only the latest previous token overlaps',
  )
})

t.test('an operator only reads with a rotated token; a process does all', async (t) => {
  const { create, rotate, reads, suspends, balances } = await openCallers(t)
  const old = (await create({ kind: 'operator', name: 'nid', roles: ['operate'] })).token ?? ''
  t.equal(await suspends(old), 'NOT_FOUND')
  const next = (await rotate('nid')).token ?? ''
  t.same([await reads(old), await suspends(old)], ['OK', 'PERMISSION_DENIED'])
  t.same([await reads(next), await suspends(next)], ['OK', 'NOT_FOUND'])
  const till = (await create({ kind: 'service', name: 'till' })).token ?? ''
  await rotate('till')
  t.equal(await balances(till, 'demo'), 'OK')
})

t.test('the owner of a caller makes its token', async (t) => {
  const { create, rotate, reads } = await openCallers(t)
  const token_sha256 = tokenDigest('made by nid')
  const created = await create({ kind: 'operator', name: 'nid', roles: ['read'], token_sha256 })
  t.notOk(created.token)
  t.equal(await reads('made by nid'), 'OK')
  const again = await create({ kind: 'operator', name: 'eve', roles: ['read'], token_sha256 })
  t.equal(again.code, 'credential_in_use')
  const rotated = await rotate('nid', FIRST, tokenDigest('the next of nid'))
  t.match(rotated, { previous_until: /Z$/, token: undefined })
  t.equal(await reads('the next of nid'), 'OK')
})

t.test('a revoked caller is rejected at once and its open stream ends', async (t) => {
  const { create, revoke, rotate, reads, gateway } = await openCallers(t)
  const token = (await create({ kind: 'operator', name: 'nid', roles: ['read'] })).token ?? ''
  const edge = (await create({ kind: 'gateway', name: 'edge' })).token ?? ''
  const stream = gateway.Open(bearer(edge))
  const ended = new Promise<{ code: number }>((resolve) => {
    stream.on('error', () => undefined)
    stream.on('data', () => undefined)
    stream.on('status', resolve)
  })
  const answered = new Promise((resolve) => stream.once('data', resolve))
  const get_intent = { intent_id: 'pi_1' }
  stream.write({ commands: [{ ticket: 1, tenant: 'demo_sandbox', budget_ms: 5_000, get_intent }] })
  await answered

  t.equal((await revoke('nid')).status, 'revoked')
  t.equal(await reads(token), 'UNAUTHENTICATED')
  t.equal((await revoke('nid')).code, 'caller_revoked')
  t.equal((await rotate('nid')).code, 'caller_revoked')
  t.equal((await revoke('nobody')).code, 'caller_not_found')
  t.equal((await revoke('gateway')).code, 'caller_configured')
  await revoke('edge')
  t.equal((await ended).code, status.CANCELLED)
})

t.test('an internal service can act for its own partners only', async (t) => {
  const { create, balances, reads } = await openCallers(t)
  const bound = await create({ kind: 'service', name: 'till', partners: ['demo'] })
  const free = await create({ kind: 'service', name: 'ledger' })
  t.equal(await balances(bound.token ?? '', 'demo'), 'OK')
  t.equal(await balances(bound.token ?? '', 'other'), 'PERMISSION_DENIED')
  t.equal(await balances(bound.token ?? '', ''), 'PERMISSION_DENIED')
  t.equal(await balances(free.token ?? '', 'demo'), 'OK')
  t.equal(await balances(free.token ?? '', 'other'), 'INVALID_ARGUMENT', 'no such partner')
  t.equal(await reads(free.token ?? ''), 'PERMISSION_DENIED')
})

t.test('it watches the events of its own partners only', async (t) => {
  const { world, create, watch } = await openCallers(t)
  const made = await world.run(createIntent(DEMO, anIntent()))
  const { intent_id: id } = viewOf<{ intent_id: string }>(made)
  viewOf(await world.run(cancelIntent(DEMO, id)))
  const { token = '' } = await create({ kind: 'service', name: 'till', partners: ['demo'] })
  const { token: free = '' } = await create({ kind: 'service', name: 'ledger' })
  t.equal(await watch(token, 'demo'), 'OPEN')
  t.equal(await watch(token, 'other'), 'PERMISSION_DENIED')
  t.equal(await watch(token, ''), 'PERMISSION_DENIED')
  t.equal(await watch(free, 'other'), 'INVALID_ARGUMENT', 'no such partner')
})

t.test('the action log has each change of a caller', async (t) => {
  const { world, create, rotate, revoke } = await openCallers(t)
  await create({ kind: 'operator', name: 'nid', roles: ['read', 'decide'] })
  await rotate('nid')
  await revoke('nid')
  const log = await inBooks(world.folder, ({ all }) =>
    all('SELECT actor, action, subject FROM operator_log ORDER BY at'),
  )
  t.same(log, [
    { actor: 'root', action: 'create_caller', subject: 'operator nid read decide' },
    { actor: 'root', action: 'rotate_caller', subject: 'nid' },
    { actor: 'root', action: 'revoke_caller', subject: 'nid' },
  ])
})
