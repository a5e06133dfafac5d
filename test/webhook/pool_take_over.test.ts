/** Two processes of one pool on PostgreSQL: one waits, and takes over from a dead or silent one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { StoredEvent } from '../../src/store/store.js'
import { anEvent } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { requirePostgres, startPostgres } from '../support/postgres_server.js'
import { fetchOps } from '../support/raw_requests.js'
import { startProcess, type SingleProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'
import { TENANT } from './builders.js'
import { aPoolWorld, distinct } from './pool_process.js'

requirePostgres(t)

const EXIT_DEPOSED = 71
const WITHIN_MS = 60_000
const EVENTS = 100
const folder = tempFolder(t)
const server = await startPostgres(t)

const untilCandidate = ({ ops }: SingleProcess): Promise<unknown> =>
  eventually('it waits', async () => {
    const answer = await fetchOps(ops, '/readyz').catch(() => undefined)
    const state = (await answer?.json()) as { mode?: string } | undefined
    return answer?.status === 503 && state?.mode === 'candidate'
  })

t.test('a candidate takes over and delivers what was left', async (t) => {
  const world = await aPoolWorld(t, { STORE_URL: server.url, WEBHOOK_POOL_SCHEMA: 'taken' })
  world.endpoint('/hook', { tenant: TENANT })
  /** The settings of pool 1, on a machine of its own. */
  const settingsOn = (machine: number): Record<string, string> => {
    const DATA_DIR = join(folder, `machine_${machine}`)
    mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 })
    return { DATA_DIR, WEBHOOK_POOL_NUMBER: '1' }
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

  await world.start(settingsOn(1), 1)
  const second = await world.launch(settingsOn(2), 2)
  t.match(second.first, { ready: true, mode: 'candidate' }, 'its supervisor lets it wait')
  await publish(EVENTS)
  await eventually('some arrive', () => distinct(world.got) > EVENTS / 10)
  await world.kill(1)
  const since = performance.now()
  await second.serving
  t.comment(`kill -9 until the candidate serves: ${Math.round(performance.now() - since)} ms`)
  await settled()
  t.equal(distinct(world.got), EVENTS)
  t.comment(`sent twice: ${world.got.length - EVENTS}`)

  const third = await startProcess(t, 'actors/webhook/main.js', {
    ...world.settings,
    ...settingsOn(1),
  })
  await untilCandidate(third)
  await publish(EVENTS)
  await eventually('some more arrive', () => distinct(world.got) > EVENTS * 1.1)
  process.kill(world.pidOf(2), 'SIGSTOP')
  await third.untilReady()
  await settled()
  t.equal(distinct(world.got), EVENTS * 2)
  const exited = world.exit(2)
  process.kill(world.pidOf(2), 'SIGCONT')
  t.equal(await exited, EXIT_DEPOSED, 'the paused one wakes up fenced')

  const fourth = await startProcess(t, 'actors/webhook/main.js', {
    ...world.settings,
    ...settingsOn(2),
  })
  await untilCandidate(fourth)
  t.equal(await fourth.end(), 0, 'a candidate ends on a signal')
  await publish(20)
  await settled()
  const last = new Set<string>(published.slice(-20).map(({ id }) => id))
  t.equal(world.got.filter(({ eventId }) => last.has(eventId)).length, 20, 'once each')
  t.ok(world.got.every(({ signed }) => signed))
})
