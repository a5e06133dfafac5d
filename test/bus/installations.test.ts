/** A stream is used by one installation: its description names it. */
import { connect } from 'nats'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { EVENT_STREAM, EVENT_SUBJECTS } from '../../src/base/subjects.js'
import { connectBus } from '../../src/bus/nats.js'
import { eventually } from '../support/eventually.js'
import { readableLog } from '../support/logs.js'
import { startNats } from '../support/nats_server.js'

const DESCRIPTION = 'Events of the Causeway installation '

/** A server, and what becomes of its stream. */
async function aServer(t: Test) {
  const server = await startNats(t)
  const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
  t.teardown(() => link.close())
  const { streams, consumers } = await link.jetstreamManager()
  return {
    open: (installations: () => readonly string[] | undefined, consumes = false) => {
      const { lines, log } = readableLog('info')
      const told: boolean[] = []
      const admit = (_newest: unknown, isForeign: boolean): Promise<boolean> => {
        told.push(isForeign)
        return Promise.resolve(true)
      }
      const options = { url: server.url, consumes, installations, admit, clock: systemClock, log }
      const bus = connectBus(options)
      t.teardown(() => bus.close())
      return { bus, lines, told, isUp: () => eventually('bus up', () => bus.status() === 'up') }
    },
    describedAs: async () => (await streams.info(EVENT_STREAM)).config.description,
    describe: (description: string) => streams.update(EVENT_STREAM, { description }),
    create: () => streams.add({ name: EVENT_STREAM, subjects: [EVENT_SUBJECTS] }),
    remove: () => streams.delete(EVENT_STREAM),
    readers: async () => (await consumers.list(EVENT_STREAM).next()).length,
  }
}

t.test('another installation does not use the stream, and the log says why', async (t) => {
  const server = await aServer(t)
  await server.open(() => ['one']).isUp()
  t.equal(await server.describedAs(), `${DESCRIPTION}one`)
  for (const consumes of [false, true]) {
    const { bus, lines, told } = server.open(() => ['two'], consumes)
    await eventually('it is told', () => lines.length > 0, undefined, 20)
    const reason = /"reason":"Error: another installation uses the stream CAUSEWAY_EVENTS: /
    t.match(lines, [reason])
    t.equal(bus.status(), 'down')
    t.ok(told.length > 0 && told.every(Boolean), 'the books are compared all the same')
    t.equal(await server.describedAs(), `${DESCRIPTION}one`)
    t.equal(await server.readers(), 0, 'it reads nothing')
    await bus.close()
  }
  const own = server.open(() => ['one'], true)
  await own.isUp()
  t.same(own.told, [false])
  t.equal(await server.readers(), 1)
})

t.test('a stream without an installation is taken by the first one', async (t) => {
  for (const description of ['', 'made by hand']) {
    const server = await aServer(t)
    await server.create()
    await server.describe(description)
    await server.open(() => ['one']).isUp()
    t.equal(await server.describedAs(), `${DESCRIPTION}one`)
  }
})

t.test('an installation that has got another id keeps its stream', async (t) => {
  const server = await aServer(t)
  await server.open(() => ['former']).isUp()
  await server.open(() => ['present', 'former']).isUp()
  t.equal(await server.describedAs(), `${DESCRIPTION}present`)
})

t.test('a reader waits until it knows its installation', async (t) => {
  const server = await aServer(t)
  await server.open(() => ['one']).isUp()
  const known: { ids?: readonly string[] } = {}
  let asked = 0
  const { bus, isUp } = server.open(() => {
    asked += 1
    return known.ids
  }, true)
  await eventually('it asks again', () => asked > 2)
  t.equal(bus.status(), 'down')
  t.equal(await server.readers(), 0)
  known.ids = []
  await isUp()
  t.equal(await server.describedAs(), `${DESCRIPTION}one`, 'its processor names none')
})
