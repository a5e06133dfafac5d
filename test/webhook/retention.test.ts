/** Retention: sweeps remove every expired event without scanning the kept ones each time. */
import { join } from 'node:path'
import t from 'tap'
import { DAY, HOUR, instant, plus, type Instant } from '../../src/base/clock.js'
import { startRetention } from '../../actors/webhook/store/retention.js'
import {
  openWebhookStore,
  type ReceiptPosition,
  type ScannedPage,
} from '../../actors/webhook/store/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'
import { failed, NO_REPORTS } from '../support/webhook_store.js'

const NOW = instant(1_790_000_000_000)

t.test('a sweep continues where the last one ended and restarts each hour', async (t) => {
  const file = join(tempFolder(t), 'webhooks.db')
  const store = await openWebhookStore(file, NO_REPORTS)
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
  const scans: { readonly from: number; readonly page: ScannedPage }[] = []
  const nextSweep = async (): Promise<typeof scans> => {
    const from = scans.length
    const end = () => scans.slice(from).find(({ page }) => page.isEnd)
    await eventually('a sweep ended', () => end() !== undefined)
    return scans.slice(from)
  }
  const start = (delivered: number) =>
    startRetention(
      {
        removeSettled: async (before, after) => {
          const page = await store.removeSettled(before, after)
          scans.push({ from: after.receivedAt, page })
          return page
        },
      },
      { now: () => now },
      () => true,
      { delivered, dead: 30 },
      failed,
      5,
    )
  const longer = start(11)
  await nextSweep()
  await longer.stop()
  t.equal((await left()).length, old.length + 2, 'all are kept for eleven days')
  scans.length = 0
  const retention = start(8)
  t.teardown(() => retention.stop())

  const first = await nextSweep()
  t.equal(first[0]?.from, 0)
  t.same(await left(), [held.id, young.id])
  const second = await nextSweep()
  t.equal(second[0]?.from, held.receivedAt, 'the sweep starts after the kept event')
  t.same(await left(), [held.id, young.id])
  const before = scans.length
  now = plus(NOW, HOUR)
  await eventually('the sweep restarts', () => scans.slice(before).some(({ from }) => from === 0))
})

t.test('nothing is removed while the clock is not steady', async (t) => {
  let isSteady = false
  let scans = 0
  let looks = 0
  const removeSettled = async (_before: object, after: ReceiptPosition): Promise<ScannedPage> => {
    scans += 1
    return { upTo: after, isEnd: true }
  }
  const look = (): boolean => {
    looks += 1
    return isSteady
  }
  const kept = { delivered: 8, dead: 30 }
  const retention = startRetention({ removeSettled }, { now: () => NOW }, look, kept, failed, 1)
  t.teardown(() => retention.stop())
  await eventually('several sweeps', () => looks > 3)
  t.equal(scans, 0)
  isSteady = true
  await eventually('a removal', () => scans > 0)
})
