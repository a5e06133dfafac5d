/** Callers that operators create, rotate and revoke, against a real server. */
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { CallerRecord } from '../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { CallerToken } from '../../protos/types/causeway/operator/v1/CallerToken.js'
import type { CreateCallerRequest } from '../../protos/types/causeway/operator/v1/CreateCallerRequest.js'
import type { ProtoGrpcType as CallersProto } from '../../protos/types/callers.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import { bearer } from '../../src/grpc/bearer.js'
import { MINUTE } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { contracts } from '../../src/grpc/contracts.js'
import { systemRandom } from '../../src/base/random.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { createQueryRunner } from '../../src/processor/queries/query.js'
import { createServer } from '../../src/processor/server.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import { rawBooks } from '../support/books.js'
import { anIntent } from '../support/requests.js'
import { createWorld, DEMO, RULES, viewOf } from '../support/world.js'

const FIRST = 'token-of-the-first-operator'
const TENANT = { partner_id: 'demo', environment: 'sandbox' }
type Protos = CallersProto & CommandStreamProto & EventsProto & PartnersProto & PayoutsProto
type Reply<T> = (error: ServiceError | null, answer?: T) => void

async function openCallers(t: Test) {
  const world = await createWorld(t)
  const configured = [
    callerEntry('operator', 'root', FIRST),
    callerEntry('gateway', 'gateway', 'token-of-the-gateway'),
  ].map(configuredCaller)
  const callers = createCallers(configured, world.clock, world.memory().callers)
  const log = createLog('test', { LOG_LEVEL: 'silent' })
  const { lists } = world.store
  const server = createServer(
    {
      clock: world.clock,
      random: systemRandom(),
      memory: world.memory(),
      pipeline: { submit: ({ command, reply }) => void world.run(command).then(reply) },
      reader: createQueryRunner({ lists, vault: world.vault, brand: RULES.brand }, log),
    },
    callers,
    directoryService(world.memory(), world.vault),
  )
  const at = [
    `127.0.0.1:${await server.bind('127.0.0.1:0')}`,
    credentials.createInsecure(),
  ] as const
  const { causeway } = contracts<Protos>()
  const { Callers, PartnerAdmin } = causeway.operator.v1
  const { CommandStream } = causeway.internal.v1
  const { Events, Payouts } = causeway.v1
  const [admin, partners, payouts, events] = [
    new Callers(...at),
    new PartnerAdmin(...at),
    new Payouts(...at),
    new Events(...at),
  ]
  const gateway = new CommandStream(...at)
  t.teardown(async () => {
    for (const client of [admin, partners, payouts, events, gateway]) client.close()
    await server.close()
  })
  const actor = { reason: 'a test' }
  const by = bearer(FIRST)
  return {
    world,
    gateway,
    create: (given: CreateCallerRequest) =>
      result<CallerToken>((reply) => admin.Create({ actor, ...given }, by, reply)),
    rotate: (name: string, token = FIRST, digest?: string) => {
      const request = { actor, name, ...(digest && { token_sha256: digest }) }
      return result<CallerToken>((reply) => admin.Rotate(request, bearer(token), reply))
    },
    revoke: (name: string) =>
      result<CallerRecord>((reply) => admin.Revoke({ actor, name }, by, reply)),
    list: () => result<{ data: CallerRecord[] }>((reply) => admin.List({}, by, reply)),
    /** The status of a read of operators. */
    reads: async (token: string) =>
      statusOf(await result((reply) => partners.List({}, bearer(token), reply))),
    suspends: async (token: string) => {
      const request = { actor, partner_id: 'nobody' }
      return statusOf(await result((reply) => partners.Suspend(request, bearer(token), reply)))
    },
    balances: async (token: string, partner_id: string) => {
      const tenant = { ...TENANT, partner_id }
      return statusOf(await result((reply) => payouts.Balances({ tenant }, bearer(token), reply)))
    },
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

interface Refused {
  readonly error?: string
}

const result = <T>(call: (reply: Reply<T>) => unknown): Promise<T & Refused> =>
  new Promise((resolve) => {
    call((error, answer) => {
      const code = error?.metadata.get('causeway-error')[0]
      resolve(
        (error === null ? answer : { error: String(code), status: error.code }) as T & Refused,
      )
    })
  })

const statusOf = (answer: object): string =>
  'status' in answer && typeof answer.status === 'number' ? (status[answer.status] ?? '') : 'OK'

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
    const refused = await create(given as CreateCallerRequest)
    t.equal(refused.error, code, JSON.stringify(given))
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
  t.equal(again.error, 'credential_in_use')
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
  t.equal((await revoke('nid')).error, 'caller_revoked')
  t.equal((await rotate('nid')).error, 'caller_revoked')
  t.equal((await revoke('nobody')).error, 'caller_not_found')
  t.equal((await revoke('gateway')).error, 'caller_configured')
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
  const database = await rawBooks(world.folder)
  const log = await database.all('SELECT actor, action, subject FROM operator_log ORDER BY at')
  await database.close()
  t.same(log, [
    { actor: 'root', action: 'create_caller', subject: 'operator nid read decide' },
    { actor: 'root', action: 'rotate_caller', subject: 'nid' },
    { actor: 'root', action: 'revoke_caller', subject: 'nid' },
  ])
})
