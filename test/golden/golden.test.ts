/**
 * This revision opens every frozen DATA_DIR: recorded responses are unchanged, open entities reach
 * a final state once, and the audit is clean.
 *
 * Compared: settled entities, lists, recorded answers and secrets, which do not depend on the time.
 * New members are allowed. Not compared: deliveries and conversion quotes, which expire, and
 * balances, which the audit checks. The final state of an open entity does not depend on the time
 * of the run, as every timer was due before the archive was made.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { openReceiver } from '../../src/operations/partners/webhook_receiver.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { auditOf, untilClean } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { eventsAfter, wholeList } from '../support/pages.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, type Partner } from '../support/partner.js'
import { retryUntilFinal } from '../support/payments.js'
import { startStack, type RunningStack } from '../support/stack.js'
import { frozenNames, readFrozen, unpack, type Frozen, type Listed } from './frozen.js'
import { PRODUCTION_HOST, PRODUCTION_SETTINGS, SANDBOX_SETTINGS } from './settings.js'

// Two stacks one after the other, on a machine that may be busy.
t.setTimeout(0)
const ENDS_WITHIN_MS = 60_000
const EVERY_MS = 100
const BECAUSE = ['--reason', 'golden', '--evidence', 'line 1']

interface Opened {
  readonly frozen: Frozen
  readonly dataDir: string
  readonly stack: RunningStack
  as(caller: string): Partner
}

async function open(
  t: Test,
  frozen: Frozen,
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<Opened> {
  const stack = await startStack({ t, dataDir, settings: { ...settings, RAIL_DELAY_MS: '20' } })
  const as = (caller: string): Partner => {
    const { production, ...key } = frozen.callers[caller]!
    return partnerOf(stack.sandbox, { ...key, ...(production && { host: PRODUCTION_HOST }) })
  }
  return { frozen, dataDir, stack, as }
}

for (const name of frozenNames()) {
  const frozen = readFrozen(name)

  t.test(`${name}: the sandbox`, async (t) => {
    const dataDir = join(tempFolder(t), 'data')
    unpack(name, dataDir)
    const opened = await open(t, frozen, dataDir, SANDBOX_SETTINGS)
    await whatWasOpenEnds(t, opened)
    await answersAreTheSame(t, opened, false)
    await keysAreJudgedAsBefore(t, opened)
    await webhooksAreSigned(t, opened)
    await discrepanciesAreThere(t, opened)
    await booksAreInOrder(t, opened)
  })

  t.test(`${name}: production, with an empty bus`, async (t) => {
    const dataDir = join(tempFolder(t), 'data')
    unpack(name, dataDir)
    rmSync(join(dataDir, 'nats'), { recursive: true })
    const opened = await open(t, frozen, dataDir, PRODUCTION_SETTINGS)
    await answersAreTheSame(t, opened, true)
    await whatWasOpenEnds(t, opened)
    await booksAreInOrder(t, opened)
  })
}

async function whatWasOpenEnds(t: Test, { frozen, dataDir, as }: Opened): Promise<void> {
  t.ok(frozen.open.length > 0)
  for (const { caller, what, path, becomes } of frozen.open) {
    const status = async (): Promise<unknown> => {
      const { body } = await retryUntilFinal(() => as(caller).request('GET', path))
      return (body as Listed)['status']
    }
    const isSo = async (): Promise<boolean> => (await status()) === becomes
    await eventually(what, isSo, ENDS_WITHIN_MS, EVERY_MS).catch(() => undefined)
    t.equal(await status(), becomes, `${what}: ${becomes}`)
  }
  const journal = await openDatabase(join(dataDir, 'rail.db'), { readOnly: true })
  for (const { what, path, executions } of frozen.open) {
    const id = path.split('/').at(-1) ?? ''
    const sql = 'SELECT executions FROM instructions WHERE id = ?'
    const [row] = await journal.all<{ executions: number }>(sql, [id])
    t.equal(row?.executions ?? 0, executions, `${what}: executed ${executions} times`)
  }
  await journal.close()
}

async function answersAreTheSame(
  t: Test,
  { frozen, as }: Opened,
  inProduction: boolean,
): Promise<void> {
  const isHere = ({ caller }: { caller: string }): boolean =>
    frozen.callers[caller]?.production === inProduction
  for (const { caller, path, body } of frozen.reads.filter(isHere)) {
    const answer = await retryUntilFinal(() => as(caller).request('GET', path))
    t.same(missing(body, answer.body), [], `GET ${path}`)
  }
  for (const { caller, path, rows } of frozen.lists.filter(isHere)) {
    const listed = await wholeList<Listed>(as(caller), `${path}?limit=100`)
    const now = new Map(listed.map((row) => [row['id'], row]))
    const lost = rows.flatMap((row) => missing(row, now.get(row['id'])))
    t.same(lost, [], `${rows.length} of ${path}`)
  }
  for (const { caller, path, key, body, status, text } of frozen.replays.filter(isHere)) {
    const headers = { 'Idempotency-Key': key }
    const again = await retryUntilFinal(() =>
      as(caller).request('POST', path, body ?? undefined, { headers }),
    )
    t.same([again.status, again.text], [status, text], `${path} with the key ${key}`)
  }
}

/** Paths of members that changed or are missing. */
function missing(was: unknown, now: unknown, path = ''): string[] {
  const isObject = typeof was === 'object' && was !== null
  if (!isObject || typeof now !== 'object' || now === null) {
    return Object.is(was, now) ? [] : [`${path}: ${JSON.stringify(now)}, not ${String(was)}`]
  }
  const isLonger = Array.isArray(was) && (now as unknown[]).length !== was.length
  return [
    ...(isLonger ? [`${path}: ${(now as unknown[]).length} of ${was.length}`] : []),
    ...Object.entries(was).flatMap(([name, value]) =>
      missing(value, (now as Listed)[name], `${path}.${name}`),
    ),
  ]
}

async function keysAreJudgedAsBefore(t: Test, { frozen, as }: Opened): Promise<void> {
  for (const { caller, status } of frozen.keys) {
    t.equal((await as(caller).request('GET', '/v1/balances')).status, status, caller)
  }
}

/** Gives each endpoint an address of the test, which then receives its open deliveries. */
async function webhooksAreSigned(t: Test, { frozen, as }: Opened): Promise<void> {
  const demo = as('demo')
  const secrets = Object.assign({}, ...frozen.endpoints.map((one) => one.secrets)) as Listed
  const receiver = await openReceiver({
    clock: systemClock,
    brand: 'Service',
    port: 0,
    secretOf: (keyId) => secrets[keyId] as string | undefined,
  })
  t.teardown(() => receiver.close())
  for (const { id, what } of frozen.endpoints) {
    const at = `/v1/webhook_endpoints/${id}`
    const url = `${receiver.url}/${id}?from=causeway`
    t.equal((await demo.request('PATCH', at, { url })).status, 200, what)
    t.match((await demo.request('POST', `${at}/enable`)).body, { status: 'enabled' }, what)
    const since = '2026-01-01T00:00:00Z'
    const recovered = await retryUntilFinal(() => demo.request('POST', `${at}/recover`, { since }))
    t.equal(recovered.status, 202, `${what}: recovered`)
    const tested = await demo.request('POST', `${at}/test`)
    const { event } = tested.body as { event: { id: string } }
    const came = await eventually(
      `${what}: test event`,
      () => receiver.deliveries.find(({ eventId }) => eventId === event.id),
      ENDS_WITHIN_MS,
    )
    t.equal(came.verdict, 'valid', `${what}: a stored secret signs`)
  }
  const events = await eventsAfter(demo, frozen.lastEvent)
  t.ok(events.length > 0, 'entities that were open ended with events')
  for (const { event } of events) {
    const isThere = (): boolean => receiver.events.has(event.id)
    await eventually(`${event.type} comes`, isThere, ENDS_WITHIN_MS)
  }
  const verdicts = new Set(receiver.deliveries.map(({ verdict }) => verdict))
  verdicts.delete('duplicate')
  t.same([...verdicts], ['valid'])
}

async function discrepanciesAreThere(t: Test, { frozen, stack }: Opened): Promise<void> {
  const { ops } = stack
  const listed = async (...flags: string[]): Promise<string[]> =>
    ((await ops.json('discrepancy', 'list', ...flags))['data'] as { id: string }[]).map(
      ({ id }) => id,
    )
  t.same(await listed(), frozen.discrepancies.open)
  t.same(await listed('--resolved'), frozen.discrepancies.resolved)
  for (const id of frozen.discrepancies.open) {
    await ops.json('discrepancy', 'resolve', id, 'write_off', ...BECAUSE)
  }
  t.same(await listed(), [])
}

async function booksAreInOrder(t: Test, { dataDir }: Opened): Promise<void> {
  const audited = await untilClean(dataDir, ENDS_WITHIN_MS).catch(() => auditOf(dataDir))
  t.ok(audited.clean, audited.report)
}
