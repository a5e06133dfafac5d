/** Sweeps: all that is over goes, and what stays is not looked at each time. */
import { join } from 'node:path'
import t from 'tap'
import { DAY, HOUR, instant, plus, type Instant } from '../../src/base/clock.js'
import { startRetention } from '../../actors/webhook/store/retention.js'
import { openWebhookStore, type Looked } from '../../actors/webhook/store/store.js'
import { openDatabase } from '../../src/store/database.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'

const NOW = instant(1_790_000_000_000)
const stop = (fault: unknown): void => {
  throw fault
}

void t.test('a sweep goes on where the last one ended, and begins anew each hour', async (t) => {
  const file = join(tempFolder(t), 'webhooks.db')
  const store = await openWebhookStore(file, stop)
  t.teardown(() => store.close())
  const row = (agoMs: number) => anEventRow({ receivedAt: plus(NOW, -agoMs) })
  const old = Array.from({ length: 2_500 }, (_, i) => row(10 * DAY - i))
  const held = row(9 * DAY)
  const young = row(7 * DAY)
  await store.commit({
    events: [...old, held, young],
    deliveries: [aDelivery(held, anEndpoint())],
    reported: old.map(({ id }) => id),
  })
  const reader = await openDatabase(file, { readOnly: true })
  t.teardown(() => reader.close())
  const left = async () => {
    const rows = await reader.all<{ id: string }>('SELECT id FROM events ORDER BY received_at')
    return rows.map(({ id }) => id)
  }
  let now: Instant = NOW
  const looks: { readonly from: number; readonly looked: Looked }[] = []
  const sweepsOnce = async (): Promise<typeof looks> => {
    const from = looks.length
    const end = () => looks.slice(from).find(({ looked }) => looked.isEnd)
    await eventually('a sweep came to its end', () => end() !== undefined)
    return looks.slice(from)
  }
  const retention = startRetention(
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
  t.teardown(() => retention.stop())

  const first = await sweepsOnce()
  t.equal(first[0]?.from, 0)
  t.same(await left(), [held.id, young.id])
  const second = await sweepsOnce()
  t.equal(second[0]?.from, held.receivedAt, 'the held one is behind it')
  t.same(await left(), [held.id, young.id])
  const before = looks.length
  now = plus(NOW, HOUR)
  await eventually('it begins anew', () => looks.slice(before).some(({ from }) => from === 0))
})
