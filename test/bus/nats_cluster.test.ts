/** The bus on three clustered nats-servers: the stream survives the loss of any one of them. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type StreamInfo } from 'nats'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { EVENT_STREAM } from '../../src/base/subjects.js'
import { connectBus } from '../../src/bus/nats.js'
import { natsServer } from '../../src/supervisor/nats_server.js'
import { freePort } from '../../src/supervisor/ports.js'
import { run } from '../../src/supervisor/program.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { findInstalled } from '../support/postgres_server.js'
import type { StoredEvent } from '../../src/store/store.js'
import { tempFolder } from '../support/temp_folder.js'
import { anEvent } from './bus_events.js'

const SERVERS = [1, 2, 3]
/** An election takes seconds, more on a busy machine. */
const elected: typeof eventually = (what, look) => eventually(what, look, 60_000)

t.test('an event is published after any one server is lost', async (t) => {
  const { first, bus, stream } = await openCluster(t)
  const published = (event: StoredEvent): Promise<unknown> =>
    elected('the event is stored', () => bus.publisher.publish(event, event.id))
  await elected('every replica is current', async () => areCurrent(await stream()))
  t.equal((await stream())?.config.max_bytes, 2 * 1024 ** 3, 'they have the storage')
  await published(anEvent(1))
  first.kill()
  await first.ended
  await published(anEvent(2))
  await elected('both are in the stream', async () => (await stream())?.state.messages === 2)
})

t.test('a stream that an operator made one replica is replicated again', async (t) => {
  const { url, manager, stream } = await openCluster(t)
  await elected('an operator makes it one replica', () =>
    manager.streams.update(EVENT_STREAM, { num_replicas: 1 }).catch(() => undefined),
  )
  const later = connectBus({ url, consumes: false, clock: systemClock, log })
  t.teardown(() => later.close())
  await elected(
    'the next connection replicates it',
    async () => (await stream())?.config.num_replicas === 3,
  )
})

/** Three servers that know each other, and the bus with its stream on them. */
async function openCluster(t: Test) {
  const folder = tempFolder(t)
  const ports = new Map<number, { client: number; route: number }>()
  for (const number of SERVERS) {
    ports.set(number, { client: await freePort('127.0.0.1'), route: await freePort('127.0.0.1') })
  }
  const portsOf = (number: number) => ports.get(number) ?? { client: 0, route: 0 }
  const random = systemRandom()
  const servers = SERVERS.map((number) => {
    const own = join(folder, `nats-${number}`)
    mkdirSync(own)
    const data = {
      file: (name: string) => join(name.endsWith('password') ? folder : own, name),
      folder: (name: string) => join(own, name),
    }
    const server = natsServer(findInstalled('nats-server') ?? '', data, process.env, random, {
      name: `nats-${number}`,
      port: portsOf(number).route,
      others: SERVERS.filter((other) => other !== number).map((other) => portsOf(other).route),
    })
    const running = run(server.program(portsOf(number).client), join(folder, `${number}.log`))
    t.teardown(async () => {
      running.kill()
      await running.ended
    })
    return { running, url: server.url(portsOf(number).client) }
  })
  for (const { running } of servers) t.match(await running.started, { ready: true })

  const [first] = servers
  if (first === undefined) throw new Error('there is no server')
  const hosts = SERVERS.map((number) => `127.0.0.1:${portsOf(number).client}`).join(',')
  const url = first.url.replace(/127\.0\.0\.1:\d+$/, hosts)
  const bus = connectBus({ url, consumes: true, clock: systemClock, log })
  t.teardown(() => bus.close())
  await elected('the bus is up', () => bus.status() === 'up')
  const admin = await connect({ servers: hosts.split(','), ...userOf(url) })
  t.teardown(() => admin.close())
  const manager = await admin.jetstreamManager()
  /** The servers do not answer in time during an election or on a busy machine. */
  const stream = () => manager.streams.info(EVENT_STREAM).catch(() => undefined)
  const created = await elected('the stream exists', stream)
  t.equal(created.config.num_replicas, 3)
  return { url, bus, manager, stream, first: first.running }
}

/**
 * Whether the stream's leader sees both others with all it has. Two servers of which one has
 * nothing yet may not elect a leader when the third is lost.
 */
function areCurrent(stream: StreamInfo | undefined): boolean {
  const replicas = stream?.cluster?.replicas ?? []
  return replicas.length === 2 && replicas.every(({ current }) => current)
}

function userOf(url: string): { user: string; pass: string } {
  const [, user = '', pass = ''] = /^nats:\/\/([^:]*):([^@]*)@/.exec(url) ?? []
  return { user: decodeURIComponent(user), pass: decodeURIComponent(pass) }
}
