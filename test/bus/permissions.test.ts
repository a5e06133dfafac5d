/** What a user of nats-server may not do is named in the log: it answers nothing else. */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectBus } from '../../src/bus/nats.js'
import { eventually } from '../support/eventually.js'
import { readableLog } from '../support/logs.js'
import { startNats } from '../support/nats_server.js'
import { someEvents } from './bus_events.js'

const DENIED: Readonly<Record<string, string>> = {
  'publish = { deny: "causeway.events.>" }': 'publish to causeway.events.>',
  'publish = { deny: "$JS.ACK.>" }': 'publish to $JS.ACK.>',
  'subscribe = { deny: "_INBOX.>" }': 'subscribe to _INBOX.>',
}

for (const [permissions, what] of Object.entries(DENIED)) {
  t.test(`the log names a subject that the user may not use: ${what}`, async (t) => {
    const user = `{ user: test, password: "test-password", permissions: { ${permissions} } }`
    const server = await startNats(t, `authorization { users: [ ${user} ] }`)
    const { lines, log } = readableLog('warn')
    const bus = connectBus({ url: server.url, consumes: true, clock: systemClock, log })
    t.teardown(() => bus.close())
    const [event] = someEvents(1)
    bus.publisher.onUp(() => void bus.publisher.publish(event!, event!.id))
    void bus.consumer.next().then((messages) => messages.forEach((message) => message.ack()))
    const reason = `"reason":"the user of the bus may not ${what}"`
    await eventually('it is told', () => lines.some((line) => line.includes(reason)))
  })
}
