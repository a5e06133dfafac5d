/** Several processors: routing, failures, and calls held while their shard moves. */
import t, { type Test } from 'tap'
import { Metadata } from '@grpc/grpc-js'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import type { PendingCommand } from '../../gateway/upstream/pending_command.js'
import { createProcessorClient } from '../../gateway/upstream/processor_client.js'
import { openDirectoryStream } from '../../gateway/upstream/directory_stream.js'
import { createProcessors, type Processors } from '../../gateway/upstream/processors.js'
import { plus, systemClock } from '../../src/base/clock.js'
import { CLEARTEXT } from '../../src/grpc/tls.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { systemRandom } from '../../src/base/random.js'
import { createGateway } from '../../gateway/gateway.js'
import { CAPACITY_MIN } from '../../gateway/admission/request_scheduler.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { createGatewayMetrics } from '../../gateway/metrics.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { call, createRequest, OTHER_KEY_ID, twoPartners } from './signing_partner.js'
import {
  accept,
  refuseWith,
  silence,
  startProcessorStub,
  type CommandStreamCall,
  type ProcessorStub,
  type Script,
} from './processor_stub.js'

/** Longer than any test runs. */
const LONG_MS = 600_000

const announcing = (
  shard: string,
  epoch: number,
  ...names: readonly string[]
): PartnerUpdate & { readonly complete: true } => ({
  ...{ shard, epoch, complete: true },
  partners: names.map((partner_id) => ({ partner_id })),
})

const PORTS = { openClient: createProcessorClient, openDirectory: openDirectoryStream }

const startStub = (t: Test, announced: PartnerUpdate, script = accept): Promise<ProcessorStub> =>
  startProcessorStub(t, { snapshot: [announced], script })

type Options = Partial<Parameters<typeof createProcessors>[0]>

function openProcessors(t: Test, stubs: readonly ProcessorStub[], options: Options): Processors {
  const processors = createProcessors({
    ...{ tls: CLEARTEXT, metadata: new Metadata(), clock: systemClock, log },
    ...options,
  })
  t.teardown(() => processors.close())
  processors.setAddresses(stubs.map(({ address }) => address))
  return processors
}

async function connectTo(
  t: Test,
  stubs: readonly ProcessorStub[],
  options: Options = { holdWithinMs: LONG_MS },
): Promise<Processors> {
  const processors = openProcessors(t, stubs, options)
  await eventually('all processors are up', () => processors.states().every(({ up }) => up))
  return processors
}

/** Two shards: books_1, which has acme, and books_2, which has umbrella. */
async function twoShards(t: Test, script?: Script, options?: Options) {
  const one = await startStub(t, announcing('books_1', 1, 'acme'), script)
  const two = await startStub(t, announcing('books_2', 1, 'umbrella'))
  return { one, two, processors: await connectTo(t, [one, two], options) }
}

interface Caller extends PendingCommand {
  readonly outcomes: string[]
}

function send({ client }: Processors, partner: string, more: Partial<Command> = {}): Caller {
  const outcomes: string[] = []
  const caller: Caller = {
    startedAt: systemClock.now(),
    outcomes,
    settle: (code, body) => outcomes.push(code === '' ? body : code),
  }
  const tenant = `${partner}_sandbox`
  client.submit({ tenant, budget_ms: 60_000, get_balances: {}, ...more }, caller)
  return caller
}

async function answered(caller: Caller): Promise<string> {
  await eventually('the call is answered', () => caller.outcomes.length > 0)
  const [outcome = ''] = caller.outcomes
  return outcome.startsWith('{') ? 'accepted' : outcome
}

const outcomeOf = (processors: Processors, partner: string): Promise<string> =>
  answered(send(processors, partner))

const untilServed = (processors: Processors, partner: string): Promise<boolean> =>
  eventually(
    `${partner} is served`,
    async () => (await outcomeOf(processors, partner)) === 'accepted',
  )

const tenantsOf = ({ commands }: ProcessorStub): string[] => commands.map(({ tenant }) => tenant)

t.test('each command goes to the processor of its partner', async (t) => {
  const one = await startStub(t, announcing('books_1', 3, 'acme', 'shop'))
  const two = await startStub(t, announcing('books_2', 5, 'umbrella'))
  const processors = await connectTo(t, [one, two])
  const names = ['acme', 'umbrella', 'shop']
  for (const name of names) t.equal(await outcomeOf(processors, name), 'accepted')
  t.equal(await outcomeOf(processors, 'nobody'), 'configuration_error')
  t.same(tenantsOf(one), ['acme_sandbox', 'shop_sandbox'])
  t.same(tenantsOf(two), ['umbrella_sandbox'])
  t.equal(processors.client.inFlight, 0)
  t.same(processors.states(), [
    { address: one.address, shard: 'books_1', epoch: 3, up: true, waiting: false },
    { address: two.address, shard: 'books_2', epoch: 5, up: true, waiting: false },
  ])

  one.publish({ partners: [{ partner_id: 'late' }] })
  await untilServed(processors, 'late')
})

t.test('calls to a killed processor fail and are never sent to another', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme'), silence)
  const two = await startStub(t, announcing('books_2', 1, 'umbrella'))
  const spare = await startStub(t, { complete: true })
  const processors = await connectTo(t, [one, two, spare])
  const inFlight = send(processors, 'acme')
  await eventually('the command arrived', () => one.commands.length === 1)
  one.crash()
  t.equal(await answered(inFlight), 'configuration_error')
  await eventually('the processor is down', () => processors.states().some(({ up }) => !up))
  t.equal(await outcomeOf(processors, 'acme'), 'configuration_error')
  t.equal(await outcomeOf(processors, 'umbrella'), 'accepted')
  t.ok(processors.client.open)
  t.ok(processors.directory.fresh)

  spare.publish(announcing('books_1', 2, 'acme'))
  await untilServed(processors, 'acme')
  t.same(inFlight.outcomes, ['configuration_error'])
  const served = spare.commands.length
  t.equal(served, 1, 'only the command sent after the take-over')
})

t.test('restored books begin at a lower epoch, and running gateways find them', async (t) => {
  const dead = await startStub(t, { ...announcing('books_1', 28, 'acme'), shards: ['books_1'] })
  const processors = await connectTo(t, [dead])
  t.same(processors.shards(), [{ shard: 'books_1', routed: true }])
  dead.crash()
  await eventually('the shard has no route', () => processors.shards()[0]?.routed === false)
  const restored = await startStub(t, announcing('books_1', 3, 'acme'))
  processors.setAddresses([dead.address, restored.address])
  await untilServed(processors, 'acme')
  t.same(tenantsOf(restored), ['acme_sandbox'])
  t.same(processors.shards(), [{ shard: 'books_1', routed: true }])
})

t.test(
  'of two processors that announce a partner the one with the higher epoch serves it',
  async (t) => {
    const former = await startStub(t, announcing('books_1', 1, 'acme'))
    const processors = await connectTo(t, [former])
    t.equal(await outcomeOf(processors, 'acme'), 'accepted')
    const owner = await startStub(t, announcing('books_1', 2, 'acme'))
    processors.setAddresses([former.address, owner.address])
    await eventually('the owner serves', async () => {
      await outcomeOf(processors, 'acme')
      return owner.commands.length > 0
    })
    const before = former.commands.length
    former.publish({ partners: [{ partner_id: 'acme' }] })
    former.publish({ partners: [{ partner_id: 'marker' }] })
    await untilServed(processors, 'marker')
    t.equal(await outcomeOf(processors, 'acme'), 'accepted')
    t.same(tenantsOf(former).slice(before), ['marker_sandbox'])
  },
)

t.test('calls are held while their shard moves, and sent with the remaining budget', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme', 'shop'))
  const two = await startStub(t, announcing('books_2', 1, 'umbrella'))
  const processors = await connectTo(t, [one, two])
  one.publish({ gone: ['acme', 'shop'] })
  let held: Caller
  await eventually('calls are held', () => {
    held = send(processors, 'acme')
    return processors.client.inFlight > 1
  })
  const late = send(processors, 'shop', { budget_ms: 0 })
  t.equal(await outcomeOf(processors, 'umbrella'), 'accepted', 'calls to other shards are served')
  t.same(held!.outcomes, [])

  const before = one.commands.length
  two.publish(announcing('books_1', 2, 'acme', 'shop'))
  t.equal(await answered(held!), 'accepted')
  t.equal(await answered(late), 'timeout')
  t.equal(one.commands.length, before, 'no command is sent to the former owner')
  const moved = two.commands.filter(({ tenant }) => tenant === 'acme_sandbox')
  t.ok(moved.every(({ budget_ms }) => budget_ms < 60_000))
  t.equal(processors.client.inFlight, 0)
})

t.test('held calls fail when no processor takes the shard in time', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme'))
  const processors = await connectTo(t, [one], { holdWithinMs: 50 })
  one.publish({ gone: ['acme'] })
  await eventually('calls fail', async () => {
    return (await outcomeOf(processors, 'acme')) === 'configuration_error'
  })
  const next = send(processors, 'acme')
  t.same(next.outcomes, ['configuration_error'], 'without waiting')
  one.publish(announcing('books_1', 2, 'acme'))
  await untilServed(processors, 'acme')
})

t.test('a call is held for two seconds while its partner has no processor', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme'))
  const timers: { readonly ms: number; readonly call: () => void }[] = []
  const after = (ms: number, call: () => void) => {
    timers.push({ ms, call })
    return () => undefined
  }
  const processors = await connectTo(t, [one], { ports: { ...PORTS, after } })
  const before = timers.length
  one.publish({ gone: ['acme'] })
  await eventually('the partner is gone', () => timers.length > before)
  const held = send(processors, 'acme')
  t.same(held.outcomes, [], 'it is held')
  const [timer] = timers.slice(before)
  t.equal(timer?.ms, 2_000)
  timer?.call()
  t.same(held.outcomes, ['configuration_error'])
  t.same(one.commands, [], 'and was never sent')
})

t.test('calls held for a draining processor go to the next owner', async (t) => {
  const { one, two, processors } = await twoShards(t)
  let ending: CommandStreamCall | undefined
  one.ended = (stream) => (ending = stream)
  t.equal(await outcomeOf(processors, 'acme'), 'accepted')
  one.drain()
  await eventually('the gateway has ended its side', () => ending !== undefined)
  const held = send(processors, 'acme')
  t.same(held.outcomes, [])
  two.publish(announcing('books_1', 2, 'acme'))
  t.equal(await answered(held), 'accepted')
  t.same(tenantsOf(two), ['acme_sandbox'])
  t.equal(one.commands.length, 1)
})

t.test('a command answered not_here is sent once more, to the next owner', async (t) => {
  const { one, two, processors } = await twoShards(t, refuseWith('not_here'))
  const caller = send(processors, 'acme')
  await eventually('the command was refused and is held', () => {
    return one.commands.length === 1 && processors.client.inFlight === 1
  })
  t.same(caller.outcomes, [])
  two.publish(announcing('books_1', 2, 'acme'))
  t.equal(await answered(caller), 'accepted')
  t.same([tenantsOf(one), tenantsOf(two)], [['acme_sandbox'], ['acme_sandbox']])
})

/** A processor that no longer has the partner, and says so after this time. */
function lateRefusal(afterMs: number) {
  let spentMs = 0
  const refuse = refuseWith('not_here')
  const script: Script = (command) => ((spentMs += afterMs), refuse(command))
  const clock = { now: () => plus(systemClock.now(), spentMs) }
  return { script, options: { holdWithinMs: LONG_MS, clock } }
}

t.test('a command answered not_here is sent with what is left of its time', async (t) => {
  const { script, options } = lateRefusal(40_000)
  const { one, two, processors } = await twoShards(t, script, options)
  const inTime = send(processors, 'acme')
  await eventually('it is held', () => processors.client.inFlight === 1 && one.commands.length > 0)
  two.publish(announcing('books_1', 2, 'acme'))
  t.equal(await answered(inTime), 'accepted')
  const [sent] = two.commands
  t.ok(sent && sent.budget_ms > 0 && sent.budget_ms <= 20_000, `${sent?.budget_ms} ms are left`)
})

t.test('a command answered not_here after its time fails', async (t) => {
  const { script, options } = lateRefusal(60_000)
  const { processors } = await twoShards(t, script, options)
  t.equal(await outcomeOf(processors, 'acme'), 'timeout')
})

t.test('without a next owner a command answered not_here fails', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme'), refuseWith('not_here'))
  const processors = await connectTo(t, [one], { holdWithinMs: 50 })
  t.equal(await outcomeOf(processors, 'acme'), 'configuration_error')
  t.equal(one.commands.length, 1)
})

t.test('other error codes are returned to the caller', async (t) => {
  const one = await startStub(t, announcing('books_1', 1, 'acme'))
  const processors = await connectTo(t, [one])
  for (const code of ['configuration_error', 'timeout', 'internal_error']) {
    one.script = refuseWith(code)
    t.equal(await outcomeOf(processors, 'acme'), code)
  }
  t.equal(one.commands.length, 3)
})

t.test('a removed address is dropped after its stream has ended', async (t) => {
  const { one, two, processors } = await twoShards(t)
  processors.setAddresses([two.address])
  t.equal(processors.states().length, 2)
  t.equal(await outcomeOf(processors, 'acme'), 'accepted', 'the open stream still serves')
  one.script = accept
  one.crash()
  await eventually('the address is dropped', () => {
    processors.setAddresses([two.address])
    return processors.states().length === 1
  })
  t.equal(await outcomeOf(processors, 'umbrella'), 'accepted')
})

t.test('a gateway with one address finds the processors that it names', async (t) => {
  const two = await startStub(t, announcing('books_2', 1, 'umbrella'))
  const named = { addresses: [two.address, 'processor.elsewhere:50051'] }
  const one = await startStub(t, { ...announcing('books_1', 1, 'acme'), ...named })
  const timers: { ms: number; call: () => void }[] = []
  const after = (ms: number, call: () => void) => {
    const timer = { ms, call }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer), 1)
  }
  const processors = openProcessors(t, [one], { ports: { ...PORTS, after } })
  await untilServed(processors, 'umbrella')
  const addresses = () => processors.states().map(({ address }) => address)
  t.same(addresses(), [one.address, two.address], 'an address that needs TLS is not dialled')

  const three = await startStub(t, announcing('books_3', 1, 'shop'))
  one.publish({ addresses: [one.address, three.address] })
  await untilServed(processors, 'shop')
  t.equal(await outcomeOf(processors, 'umbrella'), 'accepted', 'one not named serves on')
  two.crash()
  await eventually('it is down', () => processors.states().some(({ up }) => !up))
  t.equal(addresses().length, 3, 'it may restart')
  one.publish({ addresses: [one.address, two.address, three.address] })
  await eventually('it is named again', () => timers.length === 0)
  one.publish({ addresses: [one.address, three.address] })
  await eventually('it is not', () => timers.some(({ ms }) => ms === 60_000))
  timers.find(({ ms }) => ms === 60_000)?.call()
  t.same(addresses(), [one.address, three.address])
})

t.test('a processor that waits for a shard is reached, and does not count as up', async (t) => {
  const waiting = { waiting: true, shards: ['books_1'], complete: false }
  const spare = await startStub(t, { ...announcing('', 0), ...waiting })
  const processors = openProcessors(t, [spare], {})
  await eventually('it is reached', () => processors.states()[0]?.waiting)
  t.match(processors.states(), [{ address: spare.address, up: false, waiting: true }])
  t.same(processors.shards(), [{ shard: 'books_1', routed: false }])
  t.notOk(processors.client.open)
  t.notOk(processors.directory.fresh)
})

t.test('the next owner is shown the newest commit that was answered', async (t) => {
  const { one, two, processors } = await twoShards(t)
  const mark = (shard: string, epoch: number, batch: number) => ({
    ...{ shard, books_id: 'b', epoch: String(epoch), batch: String(batch) },
  })
  for (const batch of [7, 9, 8]) {
    one.mark = mark('books_1', 1, batch)
    t.equal(await outcomeOf(processors, 'acme'), 'accepted')
  }
  two.mark = mark('books_2', 3, 2)
  t.equal(await outcomeOf(processors, 'umbrella'), 'accepted')
  t.same(one.marks, [], 'nothing was answered before')
  one.crash()
  const next = await startStub(t, announcing('books_1', 2, 'acme'))
  processors.setAddresses([one.address, two.address, next.address])
  await untilServed(processors, 'acme')
  t.same(next.marks, [mark('books_1', 1, 9), mark('books_2', 3, 2)])
})

t.test('calls held for one shard do not use the capacity of others', async (t) => {
  const { partners = [], ...rest } = twoPartners()
  const [acme, umbrella] = partners
  const own = (shard: string, partner: typeof acme): PartnerUpdate => ({
    ...{ ...rest, shard, epoch: 1 },
    partners: partner === undefined ? [] : [partner],
  })
  const one = await startStub(t, own('books_1', acme))
  const two = await startStub(t, own('books_2', umbrella))
  const processors = await connectTo(t, [one, two])
  const { client, directory } = processors
  const gateway = createGateway({
    ...{ settings: readSettings({ LOG_LEVEL: 'silent' }, ''), directory, processor: client },
    metrics: createGatewayMetrics(createMetrics(), {
      inFlight: () => client.inFlight,
      streamOpen: () => client.open,
      directoryFresh: () => directory.fresh,
    }),
    ...{ clock: systemClock, random: systemRandom(), log, answerWithinMs: 60_000 },
  })
  const port = await gateway.listen('127.0.0.1', 0)
  t.teardown(() => gateway.close(0))
  one.publish({ gone: ['acme'] })
  const more = CAPACITY_MIN + 20
  const held = Array.from({ length: more }, () => call(port, createRequest()))
  await eventually('more are held than the scheduler admits', () => client.inFlight > CAPACITY_MIN)
  const other = await call(port, { ...createRequest(), keyId: OTHER_KEY_ID })
  t.equal(other.status, 201, 'the other shard is served')
  two.publish({ ...own('books_1', acme), epoch: 2 })
  const statuses = await Promise.all(held.map(async (answer) => (await answer).status))
  t.ok(statuses.every((status) => status === 201))
})
