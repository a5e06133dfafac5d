/** What the overview says of the books and of submissions, by the answers of the processors. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { html } from '../../src/console/html/html.js'
import { overview } from '../../src/console/pages/overview.js'

const UP = { route: 'production/TH/THB', rail: 'bank_a', state: 'up' }
const DELIVERIES = { open: 0, dead: 13, open_breakers: [] }

/** @param given answers by rpc; every other list is empty */
async function textOf(
  given: Readonly<Record<string, object>>,
  faults: ReadonlyMap<string, string>,
) {
  const answers: typeof given = { ListRoutes: { rails: [UP] }, Status: DELIVERIES, ...given }
  const client = { call: (rpc: string) => Promise.resolve(answers[rpc] ?? { data: [] }) }
  const clients = { operator: client, webhooks: client, approvals: client, recovery: client }
  const { live } = await overview.render({
    clients: { ...clients, access: {} },
    figures: { isKnown: false, missing: [], points: [], writeFaults: faults },
    now: instant(0),
  } as never)
  return String(html`${live}`)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
}

const none = new Map<string, string>()

t.test('books and submissions without a fault', async (t) => {
  const text = await textOf({}, none)
  t.match(text, 'Books take payments')
  t.match(text, 'Submissions on All are sent to their rail')
})

t.test('books that reject payments are not called well', async (t) => {
  const text = await textOf({}, new Map([['', 'the disk is almost full']]))
  t.match(text, 'Books take no payments: the disk is almost full')
})

t.test('a rail that is down, and a route without one, come before a pause', async (t) => {
  const rails = (...changed: object[]) => ({
    rails: [UP, ...changed.map((x) => ({ ...UP, ...x }))],
  })
  const paused = { ListSubmissionPauses: { data: [{}, {}] } }
  const down = rails({ state: 'down' }, { route: 'production/th_promptpay', state: 'down' })
  t.match(
    await textOf({ ...paused, ListRoutes: down }, none),
    'Submissions 1 down No link to bank_a',
  )
  t.match(
    await textOf({ ListRoutes: rails({ route: 'production/VN/VND', state: 'not_carried' }) }, none),
    'Submissions 1 down No rail for production/VN/VND',
  )
  t.match(await textOf(paused, none), 'Submissions 2 paused Payments wait')
})

t.test('what is dead is not called delivered', async (t) => {
  t.match(await textOf({}, none), 'Webhooks waiting 0 None waits Dead deliveries 13 Not retried')
})
