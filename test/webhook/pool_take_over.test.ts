/** Two processes of one pool on PostgreSQL: one waits, and takes over from a dead or silent one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { StoredEvent } from '../../src/store/store.js'
import { anEvent } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { TENANT } from './builders.js'
import { aPoolWorld, distinct } from './pool_process.js'

if (noPostgres !== false) {
  t.pass(noPostgres)
  process.exit()
}

t.setTimeout(0)
const EXIT_DEPOSED = 71
const WITHIN_MS = 60_000
const folder = tempFolder(t)
const server = await startPostgres(t)

void t.test('a candidate takes over and delivers what was left', async (t) => {
  const world = await aPoolWorld(t, { STORE_URL: server.url, WEBHOOK_POOL_SCHEMA: 'taken' })
  world.endpoint('/hook', { tenant: TENANT })
  /** On a machine of its own; both run pool 1. */
  const startOn = (machine: number): Promise<void> => {
    const DATA_DIR = join(folder, `machine_${machine}`)
    mkdirSync(DATA_DIR, { recursive: true })
    return world.start({ DATA_DIR, WEBHOOK_POOL_NUMBER: '1' }, machine)
  }
  const published: StoredEvent[] = []
  const publish = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, (_, index) =>
      anEvent(published.length + index + 1, { tenant: TENANT, createdAt: systemClock.now() }),
    )
    published.push(...events)
    await world.publish(events)
  }
  const settled = () => eventually('all settled', () => world.settled(published), WITHIN_MS)

  await startOn(1)
  const second = startOn(2)
  await publish(200)
  await eventually('some arrive', () => distinct(world.got) > 20)
  await world.kill(1)
  const since = performance.now()
  await second
  t.comment(`kill -9 until the candidate serves: ${Math.round(performance.now() - since)} ms`)
  await settled()
  t.equal(distinct(world.got), 200)
  t.comment(`sent twice: ${world.got.length - 200}`)

  const third = startOn(1)
  await publish(200)
  await eventually('some more arrive', () => distinct(world.got) > 220)
  process.kill(world.pidOf(2), 'SIGSTOP')
  await third
  await settled()
  t.equal(distinct(world.got), 400)
  const exited = world.exit(2)
  process.kill(world.pidOf(2), 'SIGCONT')
  t.equal(await exited, EXIT_DEPOSED, 'the paused one wakes up fenced')
  await publish(20)
  await settled()
  const last = new Set<string>(published.slice(-20).map(({ id }) => id))
  t.equal(world.got.filter(({ eventId }) => last.has(eventId)).length, 20, 'once each')
  t.ok(world.got.every(({ signed }) => signed))
})
