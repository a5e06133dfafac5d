/** What a user of nats-server may not do is named in the log: it answers nothing else. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { connectBus } from '../../src/bus/nats.js'
import { eventually } from '../support/eventually.js'
import { createNatsServer } from '../support/nats_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { someEvents } from './bus_events.js'

const DENIED: Readonly<Record<string, string>> = {
  'publish = { deny: "causeway.events.>" }': 'publish to causeway.events.>',
  'publish = { deny: "$JS.ACK.>" }': 'publish to $JS.ACK.>',
  'subscribe = { deny: "_INBOX.>" }': 'subscribe to _INBOX.>',
}

for (const [permissions, what] of Object.entries(DENIED)) {
  t.test(`the log names a subject that the user may not use: ${what}`, async (t) => {
    const user = `{ user: test, password: "test-password", permissions: { ${permissions} } }`
    const folder = tempFolder(t)
    const file = join(folder, 'nats.conf')
    writeFileSync(file, `authorization { users: [ ${user} ] }`)
    const server = await createNatsServer(folder, ['-c', file])
    t.teardown(() => server.kill())
    await server.start()
    const lines: string[] = []
    const write = (line: string): void => void lines.push(line)
    const told = createLog('test', { LOG_LEVEL: 'warn' }, { write })
    const bus = connectBus({ url: server.url, consumes: true, clock: systemClock, log: told })
    t.teardown(() => bus.close())
    const [event] = someEvents(1)
    bus.publisher.onUp(() => void bus.publisher.publish(event!, event!.id))
    void bus.consumer.next().then((messages) => messages.forEach((message) => message.ack()))
    const reason = `"reason":"the user of the bus may not ${what}"`
    await eventually('it is told', () => lines.some((line) => line.includes(reason)))
  })
}
