/** Sweeps: all that is over goes, and what stays is not looked at each time. */
import { join } from 'node:path'
import t from 'tap'
import { DAY, HOUR, instant, plus, type Instant } from '../../src/base/clock.js'
import { startJanitor } from '../../actors/webhook/janitor.js'
import { openWebhookStore, type Forgotten } from '../../actors/webhook/store.js'
import { eventually } from '../support/eventually.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'

const NOW = instant(1_790_000_000_000)
const stop = (fault: unknown): void => {
  throw fault
}

void t.test('a sweep goes on where the last one ended, and begins anew each hour', async (t) => {
  const store = await openWebhookStore(join(t.testdir(), 'webhooks.db'), stop)
  t.teardown(() => store.close())
  const row = (agoMs: number) => anEventRow({ receivedAt: plus(NOW, -agoMs) })
  const old = Array.from({ length: 2_500 }, (_, i) => row(10 * DAY - i))
  const held = row(9 * DAY)
  await store.commit({
    events: [...old, held, row(7 * DAY)],
    deliveries: [aDelivery(held, anEndpoint())],
    reported: old.map(({ id }) => id),
  })
  let now: Instant = NOW
  const looks: { readonly from: number; readonly looked: Forgotten }[] = []
  const sweepsOnce = async (): Promise<typeof looks> => {
    const from = looks.length
    const end = () => looks.slice(from).find(({ looked }) => looked.isEnd)
    await eventually('a sweep came to its end', () => end() !== undefined)
    return looks.slice(from)
  }
  const janitor = startJanitor(
    {
      forget: async (before, behind) => {
        const looked = await store.forget(before, behind)
        looks.push({ from: behind.receivedAt, looked })
        return looked
      },
    },
    { now: () => now },
    5,
  )
  t.teardown(() => janitor.stop())

  const first = await sweepsOnce()
  t.equal(first[0]?.from, 0)
  const removed = (some: typeof looks): number =>
    some.reduce((sum, { looked }) => sum + looked.removed, 0)
  t.equal(removed(first), 2_500)
  const second = await sweepsOnce()
  t.same([second[0]?.from, removed(second)], [held.receivedAt, 0], 'the held one is behind it')
  now = plus(NOW, HOUR)
  await eventually('it begins anew', () => looks.at(-1)?.from === 0 || looks.at(-2)?.from === 0)
})
