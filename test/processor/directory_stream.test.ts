/** The directory streams deliver the whole directory and every later change. */
import { credentials, Server } from '@grpc/grpc-js'
import { listenGrpc } from '../support/grpc_listen.js'
import t, { type Test } from 'tap'
import { createEndpointDirectory } from '../../actors/webhook/endpoint/endpoint_directory.js'
import { watchDirectory } from '../../gateway/upstream/partner_directory.js'
import type { EndpointUpdate__Output as EndpointUpdate } from '../../protos/types/causeway/internal/v1/EndpointUpdate.js'
import type { PartnerUpdate__Output as PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { DirectoryClient } from '../../protos/types/causeway/internal/v1/Directory.js'
import type { ProtoGrpcType } from '../../protos/types/directory.js'
import { GRPC_MESSAGE_MAX_BYTES } from '../../src/base/constants.js'
import { instant } from '../../src/base/clock.js'
import {
  tenantOf,
  type EndpointId,
  type KeyId,
  type PartnerId,
  type TenantId,
} from '../../src/base/ids.js'
import { bearer } from '../../src/grpc/bearer.js'
import { contracts } from '../../src/grpc/contracts.js'
import type { Vault } from '../../src/processor/keys/vault.js'
import type {
  EndpointEntry,
  KeyEntry,
  PartnerEntry,
} from '../../src/processor/cache/tenant_directory.js'
import { createKeyTable, type KeyTable } from '../../src/processor/cache/key_table.js'
import { createEndpointTable } from '../../src/processor/cache/endpoint_table.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import {
  directoryService,
  type ShardInfo,
  type DirectoryService,
} from '../../src/processor/servers/directory_stream.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { DEMO as TENANT } from '../support/world.js'

const TOKEN = 'it_ours'

const endpointId = (i: number): EndpointId => `we_${i}` as EndpointId

const anEndpoint = (i: number, changes: Partial<EndpointEntry> = {}): EndpointEntry => ({
  id: endpointId(i),
  tenant: TENANT,
  url: `https://example.com/${i}?${'a'.repeat(2_000)}`,
  description: '',
  enabledEvents: ['*'],
  enabledEventsSince: instant(5),
  apiVersion: '2026-11-01',
  status: 'enabled',
  disabledReason: '',
  timesDisabled: 0,
  disabledAt: null,
  deadAnnouncedAt: null,
  breakerResetAt: instant(7),
  secrets: [{ keyId: `we_${i}_1`, secret: 'whsec_of_the_test', activeFrom: instant(5) }],
  createdAt: instant(5),
  ...changes,
})

const aPartner = (i: number): PartnerEntry => ({
  id: `partner-${i}` as PartnerId,
  suspended: false,
  allowedIps: [],
  packages: Array.from({ length: 100 }, (_, n) => `com.example.${n}.${'a'.repeat(200)}`),
  corridors: [],
  rateLimitPerSecond: 0,
  createdAt: instant(5),
})

const keyOf = ({ id }: PartnerEntry): KeyEntry => ({
  id: `key_${id}` as KeyId,
  tenant: tenantOf(id, 'sandbox'),
  secret: 'sk_of_the_test',
  createdAt: instant(5),
  revokedAt: null,
  isRevoked: false,
})

interface Served {
  readonly memory: Memory
  readonly directory: DirectoryService
  readonly address: string
  /** Ends its streams for good. */
  stop(): void
}

interface Replaced {
  readonly keys?: KeyTable
  readonly yieldToEventLoop?: () => Promise<void>
}

async function serve(
  t: Test,
  shardInfo?: ShardInfo,
  { keys = createKeyTable(), yieldToEventLoop }: Replaced = {},
): Promise<Served> {
  const known = { endpoints: createEndpointTable(), partners: new Map(), keys }
  const memory = known as unknown as Memory
  const vault = { tokenSecrets: [{ kid: 'k1', secret: Buffer.alloc(32, 1) }] } as unknown as Vault
  const directory = directoryService(memory, vault, shardInfo, yieldToEventLoop)
  const server = new Server()
  server.addService(
    contracts<ProtoGrpcType>().causeway.internal.v1.Directory.service,
    directory.handlers,
  )
  const address = await listenGrpc(server)
  t.teardown(() => server.forceShutdown())
  return { memory, directory, address, stop: () => server.forceShutdown() }
}

const shardInfo = (shard: string, epoch = 1): ShardInfo => ({
  ...{ shard, epoch: () => epoch, shards: () => ['books_1', 'books_2'] },
})

/** What a webhook pool knows of its processors. */
function openEndpoints(t: Test) {
  const endpoints = createEndpointDirectory({ token: TOKEN, log: SILENT_LOG })
  t.teardown(() => endpoints.close())
  const add = ({ address }: Served) => endpoints.add(clientOf(t, address))
  return { endpoints, add }
}

function clientOf(t: Test, address: string): () => DirectoryClient {
  const { Directory } = contracts<ProtoGrpcType>().causeway.internal.v1
  const client = new Directory(address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': GRPC_MESSAGE_MAX_BYTES,
  })
  t.teardown(() => client.close())
  return () => client
}

t.test('a pool receives thousands of endpoints and the changes during the transfer', async (t) => {
  const served = await serve(t)
  const { memory, directory } = served
  const count = 12_000
  for (let i = 0; i < count; i++) {
    memory.endpoints.set(endpointId(i), anEndpoint(i, i % 2 ? { status: 'deleted' } : {}))
  }
  const { endpoints, add } = openEndpoints(t)
  add(served)
  const received: EndpointId[] = []
  const [first, last] = [endpointId(0), endpointId(count - 2)]
  endpoints.onChange((endpoint) => {
    received.push(endpoint.id)
    if (received.length > 1) return
    t.notOk(endpoints.isSynced(TENANT), 'not in step before the end of the transfer')
    for (const id of [first, last]) {
      memory.endpoints.set(id, { ...memory.endpoints.get(id)!, url: 'https://example.com/new' })
    }
    directory.changed(new Set(), new Set([first, last]))
  })
  t.equal(await endpoints.whenSynced(TENANT), true)
  t.same(
    received.slice(0, count),
    Array.from({ length: count }, (_, i) => endpointId(i)),
  )
  t.equal(
    [...endpoints.ofTenant(TENANT)].length,
    count / 2,
    'deleted endpoints are sent, and removed by the pool',
  )
  await eventually('both changes', () => received.length === count + 2)
  t.equal(endpoints.get(first)?.url, 'https://example.com/new')
  t.equal(endpoints.get(last)?.url, 'https://example.com/new', 'the newer version is kept')
  t.match(endpoints.get(endpointId(2)), {
    url: anEndpoint(2).url,
    secrets: [{ keyId: 'we_2_1', activeFrom: 5 }],
    enabledEventsSince: 5,
    breakerResetAt: 7,
  })
})

t.test('a wait for a tenant whose processor stays away ends', async (t) => {
  const { endpoints } = openEndpoints(t)
  await serve(t)
  let isSynced: boolean | undefined
  void endpoints.whenSynced('nobody_sandbox' as TenantId, 1).then((given) => (isSynced = given))
  await eventually('the wait ends', () => isSynced !== undefined)
  t.equal(isSynced, false)
})

t.test('a pool learns its installation first', async (t) => {
  const { endpoints, add } = openEndpoints(t)
  t.equal(endpoints.installations(), undefined)
  await add(await serve(t)).complete
  t.same(endpoints.installations(), [], 'an earlier version of the processor names none')
  await add(await serve(t, { ...shardInfo('books_1'), installation: 'one' })).complete
  t.same(endpoints.installations(), ['one'])
  await add(await serve(t, { ...shardInfo(''), installation: 'two' })).complete
  t.same(endpoints.installations(), ['two'], 'also without shards')
  await add(await serve(t)).complete
  t.same(endpoints.installations(), ['two'], 'one of an earlier version changes nothing')
})

t.test('many changes of one commit arrive', async (t) => {
  const served = await serve(t)
  const { memory, directory } = served
  const { endpoints, add } = openEndpoints(t)
  add(served)
  await endpoints.whenAnySynced()
  const ids = Array.from({ length: 6_000 }, (_, i) => endpointId(i))
  for (const [i, id] of ids.entries()) memory.endpoints.set(id, anEndpoint(i))
  directory.changed(new Set(), new Set(ids))
  await eventually('the whole directory', () => ids.every((id) => endpoints.get(id) !== undefined))
  t.ok(endpoints.isAllSynced(), 'on the open stream')
})

t.test('a pool finds the processor of a tenant among several', async (t) => {
  const [one, two, next] = [
    await serve(t, shardInfo('books_1')),
    await serve(t, shardInfo('books_2')),
    await serve(t, shardInfo('books_2', 2)),
  ]
  const [first, second] = [aPartner(1), aPartner(2)]
  const tenant = (partner: PartnerEntry) => tenantOf(partner.id, 'sandbox')
  one.memory.partners.set(first.id, first)
  const { endpoints, add } = openEndpoints(t)
  const ofOne = add(one)
  t.equal(await endpoints.whenSynced(tenant(first)), true)
  t.equal(endpoints.subscriptionOf(tenant(first)), ofOne)
  t.notOk(endpoints.isSynced(tenant(second)))
  t.notOk(endpoints.isAllSynced(), 'no processor serves books_2')
  t.equal(await endpoints.whenSynced(tenant(second), 20), false, 'not waited for without an end')

  const ofTwo = add(two)
  await ofTwo.complete
  t.ok(endpoints.isAllSynced())
  t.notOk(endpoints.isSynced(tenant(second)), 'the partner does not exist yet')
  const isCreated = endpoints.whenSynced(tenant(second))
  two.memory.partners.set(second.id, second)
  two.directory.changed(new Set([second.id]), new Set())
  t.equal(await isCreated, true)
  t.equal(endpoints.subscriptionOf(tenant(second)), ofTwo)

  next.memory.partners.set(second.id, second)
  const ofNext = add(next)
  await ofNext.complete
  t.equal(endpoints.subscriptionOf(tenant(second)), ofNext, 'the later owner has the tenant')
  two.directory.close()
  ofNext.close()
  await eventually('no processor has it', () => !endpoints.isSynced(tenant(second)))
  t.ok(endpoints.isSynced(tenant(first)))
})

t.test('a pool pauses the tenants of a processor in recovery mode only', async (t) => {
  const { endpoints, add } = openEndpoints(t)
  const [first, second] = [aPartner(1), aPartner(2)]
  const [tenant, other] = [tenantOf(first.id, 'sandbox'), tenantOf(second.id, 'sandbox')]
  const isInRecovery = { cause: 'a test', stops: 'writes' }
  const join = async (partner: PartnerEntry, info: ShardInfo, recovery: object | null) => {
    const served = await serve(t, info)
    served.memory.partners.set(partner.id, partner)
    Object.assign(served.memory, { recovery })
    await add(served).complete
    return served
  }
  await join(second, shardInfo('books_2', 1), null)
  t.notOk(endpoints.isPaused(other))
  const one = await join(first, shardInfo('books_1', 1), isInRecovery)
  t.ok(endpoints.isPaused(tenant))
  t.notOk(endpoints.isPaused(other), 'its processor serves')

  one.directory.close()
  await eventually('the stream is lost', () => !endpoints.isSynced(tenant))
  t.ok(endpoints.isPaused(tenant), 'no processor has released it')
  await eventually('it is back', () => endpoints.isSynced(tenant))
  const later = await join(first, shardInfo('books_1', 2), null)
  t.notOk(endpoints.isPaused(tenant), 'a later owner serves')

  later.stop()
  await eventually('the earlier one is left', () => endpoints.isPaused(tenant))
  t.ok(endpoints.isPaused(tenant), 'restored books of a lower epoch are in recovery mode')
})

t.test('a deleted endpoint is sent with its id and status only', async (t) => {
  const { memory, address } = await serve(t)
  memory.endpoints.set(endpointId(1), anEndpoint(1, { status: 'deleted' }))
  const stream = clientOf(t, address)().WatchEndpoints({}, bearer(TOKEN))
  stream.on('error', () => undefined)
  const update = await new Promise((resolve) => {
    stream.on('data', (given: EndpointUpdate) => given.complete && resolve(given))
  })
  stream.cancel()
  t.match(update, {
    endpoints: [{ id: endpointId(1), tenant: TENANT, status: 'deleted', url: '', secrets: [] }],
    complete: true,
  })
})

t.test('a gateway receives more partners than fit one message', async (t) => {
  const { memory, address } = await serve(t)
  const partners = Array.from({ length: 600 }, (_, i) => aPartner(i))
  for (const partner of partners) {
    memory.partners.set(partner.id, partner)
    memory.keys.set(keyOf(partner).id, keyOf(partner))
  }
  const watched = watchDirectory(address, bearer(TOKEN), SILENT_LOG)
  t.teardown(() => watched.stop())
  await watched.known
  const known = watched.partners()!
  t.ok(partners.every(({ id }) => known.partner(id) !== undefined))
  t.ok(partners.every((partner) => known.key(keyOf(partner).id) !== undefined))
  t.ok(known.tokenKeys() !== undefined)
})

/**
 * The updates that a newly connected gateway receives.
 *
 * @param onSecond called at the second one
 */
function watchPartners(t: Test, address: string, onSecond?: () => void): PartnerUpdate[] {
  const updates: PartnerUpdate[] = []
  const stream = clientOf(t, address)().WatchPartners({}, bearer(TOKEN))
  stream.on('data', (update: PartnerUpdate) => {
    if (updates.push(update) === 2) onSecond?.()
  })
  stream.on('error', () => undefined)
  return updates
}

const namesIn = (updates: readonly PartnerUpdate[]): string[] =>
  updates.flatMap(({ partners }) => partners.map(({ partner_id }) => partner_id))

t.test('a processor announces its shard, and withdraws its partners', async (t) => {
  let epoch = 7
  const shards = ['books_1', 'books_2']
  let addresses = ['10.0.0.1:50051']
  const { memory, directory, address } = await serve(t, {
    shard: 'books_2',
    epoch: () => epoch,
    shards: () => shards,
    addresses: () => addresses,
  })
  const [first, second] = [aPartner(1), aPartner(2)]
  for (const partner of [first, second]) memory.partners.set(partner.id, partner)
  const early = watchPartners(t, address)
  await eventually('a gateway has the snapshot', () => early.some(({ complete }) => complete))
  t.match(early[0], { shard: 'books_2', epoch: '7', shards, addresses })
  addresses = ['10.0.0.1:50051', '10.0.0.2:50051']
  directory.addressesChanged()
  await eventually('the gateway has the new address', () => early.at(-1)?.addresses.length === 2)
  t.same(namesIn(early), [first.id, second.id])
  t.same(directory.own(), { shard: 'books_2', epoch: 7, shards })

  directory.withdraw()
  await eventually('the gateway has received the withdrawal', () =>
    early.some(({ gone }) => gone.length > 0),
  )
  t.same(early.at(-1)?.gone, [first.id, second.id])
  directory.changed(new Set([first.id]), new Set())
  epoch = 8
  const late = watchPartners(t, address)
  await eventually('another gateway connects', () => late.some(({ complete }) => complete))
  t.match(late[0], { shard: '', shards }, 'the processor announces no shard')
  t.same(namesIn(late), [])
  t.same(namesIn(early), [first.id, second.id], 'later changes are not sent')
})

t.test('a partner leaves one shard for another one', async (t) => {
  const [from, to] = [
    await serve(t, shardInfo('books_1')),
    await serve(t, shardInfo('books_2')),
  ] as const
  const partner = aPartner(1)
  const tenant = tenantOf(partner.id, 'sandbox')
  from.memory.partners.set(partner.id, partner)
  const { endpoints, add } = openEndpoints(t)
  const [left, other] = [add(from), add(to)]
  await Promise.all([left.complete, other.complete])
  t.equal(endpoints.subscriptionOf(tenant), left)
  const seen = watchPartners(t, from.address)
  await eventually('a gateway has it', () => seen.some(({ complete }) => complete))

  from.directory.withdrawPartner(partner.id)
  await eventually('gateways hold its calls', () =>
    seen.some(({ gone }) => gone.includes(partner.id)),
  )
  const late = watchPartners(t, from.address)
  await eventually('another gateway connects', () => late.some(({ complete }) => complete))
  t.same(namesIn(late), [])
  from.directory.partnerIsHere(partner.id)
  await eventually('it stays', () => namesIn(late).length > 0)

  from.directory.withdrawPartner(partner.id)
  from.memory.partners.delete(partner.id)
  to.memory.partners.set(partner.id, partner)
  from.directory.partnerLeft(partner.id)
  await eventually('pools know', () => endpoints.subscriptionOf(tenant) === undefined)
  const there = watchPartners(t, to.address)
  to.directory.partnerIsHere(partner.id)
  await eventually('pools turn to it', () => endpoints.subscriptionOf(tenant) === other)
  await eventually('gateways learn it', () => namesIn(there).includes(partner.id))
})

t.test('a transfer looks each partner up once, and lets other work run', async (t) => {
  const count = 5_000
  const work: ('look-up' | 'scan' | 'yield')[] = []
  const keys = createKeyTable()
  const counting: KeyTable = {
    ...keys,
    values: () => {
      work.push('scan')
      return keys.values()
    },
    ofTenant: (tenant) => {
      work.push('look-up')
      return keys.ofTenant(tenant)
    },
  }
  const partners = Array.from({ length: count }, (_, i) => ({ ...aPartner(i), packages: [] }))
  for (const partner of partners) keys.set(keyOf(partner).id, keyOf(partner))
  const { memory, address } = await serve(t, undefined, {
    keys: counting,
    yieldToEventLoop: () => {
      work.push('yield')
      return new Promise((resolve) => setImmediate(resolve))
    },
  })
  for (const partner of partners) memory.partners.set(partner.id, partner)
  const updates = watchPartners(t, address)
  await eventually('the whole directory', () => updates.some(({ complete }) => complete))
  t.same(namesIn(updates), [...memory.partners.keys()])
  t.same(
    updates.flatMap((update) => update.partners.map((partner) => partner.keys.length)),
    partners.map(() => 1),
  )
  const lookUps = work.filter((one) => one === 'look-up').length
  t.equal(lookUps, 2 * count, 'one for each tenant')
  t.notOk(work.includes('scan'))
  const runs = work.join().split('yield')
  const longest = Math.max(...runs.map((run) => run.split('look-up').length - 1))
  t.ok(longest <= count / 8, `${longest} look-ups without a yield`)
})

t.test('changes during a transfer follow it', async (t) => {
  const { memory, directory, address } = await serve(t, shardInfo('books_1'))
  const partners = Array.from({ length: 2_000 }, (_, i) => ({ ...aPartner(i), packages: [] }))
  for (const partner of partners) memory.partners.set(partner.id, partner)
  const [first, last] = [partners[0]!, partners.at(-1)!]
  const added = { ...aPartner(2_000), packages: [] }
  const updates = watchPartners(t, address, () => {
    for (const one of [first, last, added])
      memory.partners.set(one.id, { ...one, rateLimitPerSecond: 7 })
    directory.changed(new Set([first.id, last.id, added.id]), new Set())
  })
  await eventually('the changes', () => updates.at(-1)?.partners.length === 3)
  const complete = updates.findIndex((update) => update.complete)
  t.equal(complete, updates.length - 2, 'the transfer ends before them')
  t.same(namesIn(updates.slice(-1)), [first.id, last.id, added.id])
  t.ok(updates.at(-1)?.partners.every((one) => one.rate_limit_per_second === 7))

  const late = watchPartners(t, address, () => directory.withdraw())
  await eventually('the withdrawal', () => late.some(({ gone }) => gone.length > 0))
  t.ok(late.at(-2)?.complete)
  t.equal(late.at(-1)?.gone.length, partners.length + 1, 'also those not sent')
})
