/** An event is stored only when the stream acknowledges it in time over the same connection. */
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { instant, SECOND } from '../../src/base/clock.js'
import { createPublisher } from '../../src/bus/publisher.js'
import { anEvent } from './bus_events.js'

/** One outstanding event on a connection that the test controls. */
async function oneOut(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let now = 0
  const tickets: number[] = []
  const end = createPublisher({ now: () => instant(now) })
  t.teardown(() => end.detach())
  end.attach((_message, ticket) => void tickets.push(ticket), false)
  const capacity = end.publisher.capacity()
  const event = anEvent(1)
  let stored: boolean | undefined
  void end.publisher.publish(event, event.id).then((outcome) => (stored = outcome))
  await turn()
  t.equal(end.publisher.capacity(), capacity - 1)
  return {
    end,
    ticket: tickets[0]!,
    /** Undefined while the promise is pending. */
    stored: () => stored,
    isReleased: () => end.publisher.capacity() === capacity,
    pass: async (milliseconds: number): Promise<void> => {
      now += milliseconds
      mock.timers.tick(milliseconds)
      await turn()
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('an event is stored or not as the stream answers', async (t) => {
  for (const outcome of [true, false]) {
    const { end, ticket, stored, isReleased } = await oneOut(t)
    end.answer(ticket + 1, !outcome)
    await turn()
    t.equal(stored(), undefined, 'with another ticket')
    end.answer(ticket, outcome)
    await turn()
    t.equal(stored(), outcome)
    t.ok(isReleased())
    mock.timers.reset()
  }
})

t.test('no answer within two seconds is an unknown outcome', async (t) => {
  const { end, ticket, stored, isReleased, pass } = await oneOut(t)
  await pass(2 * SECOND - 250)
  t.equal(stored(), undefined)
  await pass(250)
  t.equal(stored(), false)
  end.answer(ticket, true)
  t.ok(isReleased(), 'the ticket is released once')
})

t.test('a lost connection settles its events as unknown', async (t) => {
  const { end, stored } = await oneOut(t)
  end.detach()
  await turn()
  t.equal(stored(), false)
  t.equal(end.publisher.capacity(), 0)
})
