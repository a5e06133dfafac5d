/** The reporter with several processors: each gets the outcomes of its own tenants. */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import {
  createEventOutcomeReporter,
  type EventOutcomeReporter,
  type EventOutcomeReporterOptions,
} from '../../actors/webhook/intake/event_outcome_reporter.js'
import type { PostgresPool } from '../../actors/webhook/store/postgres/store.js'
import type { EventOutcomesClient } from '../../protos/types/causeway/internal/v1/EventOutcomes.js'
import { systemClock } from '../../src/base/clock.js'
import type { EndpointId, TenantId } from '../../src/base/ids.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { failed } from '../support/webhook_store.js'
import { anEventRow } from './builders.js'
import { aProcessor, UNREACHABLE } from './outcomes_stub.js'
import { inSqlite, testStores } from './test_stores.js'

const ONE = 'one_sandbox' as TenantId
const TWO = 'two_sandbox' as TenantId
const URL = 'https://partner.example/hook'
const GONE = { id: 'we_1' as EndpointId, reason: 'gone', url: URL } as const

const BACKLOG = 51_000
const COMMIT_MAX = 3_000

interface Outcomes {
  readonly outcomes: readonly { readonly event_id: string }[]
}

const recordedBy = ({ taken }: { readonly taken: readonly Outcomes[] }): readonly string[] =>
  taken.flatMap(({ outcomes }) => outcomes.map(({ event_id }) => event_id))

/** It is connected to no processor but by what is given. */
function aReporter(
  t: Test,
  { store, adminQueries }: PostgresPool,
  given: Partial<EventOutcomeReporterOptions>,
): EventOutcomeReporter {
  const reporter = createEventOutcomeReporter({
    clientOf: () => undefined,
    clientOfEndpoint: () => undefined,
    urlOf: () => URL,
    ...{ token: '', store, failed, clock: systemClock, log },
    ...given,
  })
  t.teardown(async () => {
    await reporter.stop()
    await adminQueries.close()
    await store.close()
  })
  return reporter
}

for (const [name, newTestStore] of Object.entries(await testStores())) {
  t.test(`in ${name}, an unreachable processor delays only its own outcomes`, async (t) => {
    const opened = await newTestStore(t).open()
    const { store } = opened
    const [one, two] = [aProcessor<Outcomes>(), aProcessor<Outcomes>()]
    const settle = async (tenant: TenantId, count: number): Promise<void> => {
      for (let left = count; left > 0; left -= COMMIT_MAX) {
        const size = Math.min(left, COMMIT_MAX)
        await store.commit({ events: Array.from({ length: size }, () => anEventRow({ tenant })) })
      }
    }
    // The backlog of the first processor is older, and larger than any read.
    await settle(ONE, BACKLOG)
    await settle(TWO, 2_500)
    one.fails(UNREACHABLE)
    const clients = new Map([
      [ONE, one.client],
      [TWO, two.client],
    ])
    const reporter = aReporter(t, opened, { clientOf: (tenant) => clients.get(tenant) })
    reporter.schedule()
    await eventually(
      'the second processor has its outcomes',
      () => recordedBy(two).length === 2_500,
    )
    t.same(recordedBy(one), [])
    await settle(TWO, 1)
    reporter.schedule()
    await eventually('and a later one', () => recordedBy(two).length === 2_501)

    clients.delete(ONE)
    await settle(TWO, 1)
    reporter.schedule()
    await eventually('also when the first is not connected', () => recordedBy(two).length === 2_502)
    clients.set(ONE, one.client)
    one.fails(null)
    await eventually(
      'the first processor has its outcomes',
      () => recordedBy(one).length === BACKLOG,
    )
    t.equal(new Set(recordedBy(one)).size, BACKLOG)
    t.equal(recordedBy(two).length, 2_502, 'once each')
  })
}

t.test('a client that was closed meanwhile counts as away', async (t) => {
  const opened = await inSqlite(t).open()
  await opened.store.commit({ events: [anEventRow({ tenant: ONE })] })
  let calls = 0
  const closed = {
    Record: () => {
      calls += 1
      throw new Error('Channel has been shut down')
    },
  } as unknown as EventOutcomesClient
  const reporter = aReporter(t, opened, { clientOf: () => closed })
  reporter.schedule()
  await eventually('it is tried again', () => calls >= 2)
})

/** A reporter whose processor it asks to disable an endpoint, and how often it has looked. */
async function aDisabler(t: Test, given: Partial<EventOutcomeReporterOptions> = {}) {
  const opened = await inSqlite(t).open()
  const { store } = opened
  const { client, ...processor } = aProcessor<{ readonly url: string }>()
  let rounds = 0
  const reporter = aReporter(t, opened, {
    clientOfEndpoint: () => client,
    store: { ...store, unreported: (...which) => (rounds++, store.unreported(...which)) },
    ...given,
  })
  return { ...processor, reporter, rounds: () => rounds }
}

t.test('an endpoint that was disabled or deleted meanwhile is asked for no more', async (t) => {
  let isEnabled = true
  const urlOf = () => (isEnabled ? URL : undefined)
  const { reporter, asked, rounds, fails } = await aDisabler(t, { urlOf })
  fails(UNREACHABLE)
  reporter.disable(GONE)
  await eventually('it is repeated', () => asked.length >= 2)
  isEnabled = false
  const before = rounds()
  await eventually('one more round', () => rounds() > before)
  const ended = asked.length
  reporter.schedule()
  await eventually('and another', () => rounds() > before + 1)
  t.equal(asked.length, ended)
})

t.test('an endpoint that was given another URL meanwhile is not disabled', async (t) => {
  let url = URL
  const { reporter, asked, rounds, fails } = await aDisabler(t, { urlOf: () => url })
  fails(UNREACHABLE)
  reporter.disable(GONE)
  await eventually('the request names the URL', () => asked.length > 0)
  url = 'https://partner.example/new'
  const before = asked.length
  fails(null)
  const round = rounds()
  reporter.schedule()
  await eventually('one more round', () => rounds() > round)
  reporter.schedule()
  await eventually('and another', () => rounds() > round + 1)
  const urls = asked.map((request) => request.url)
  t.same(urls, Array<string>(before).fill(URL))
  reporter.disable({ ...GONE, url })
  await eventually('a failure of the new one is', () => asked.at(-1)?.url === url)
})

t.test('an endpoint that its processor does not know is asked for once', async (t) => {
  const { reporter, asked, rounds, fails } = await aDisabler(t)
  fails(Object.assign(new Error('no such endpoint'), { code: status.NOT_FOUND }))
  reporter.disable(GONE)
  await eventually('a round has ended', () => rounds() === 1)
  reporter.schedule()
  await eventually('and another', () => rounds() === 2)
  t.equal(asked.length, 1)
})
