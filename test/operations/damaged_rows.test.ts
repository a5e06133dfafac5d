/**
 * What operators see of a damaged row, in the CLI and in the pages of the console: a sentence that
 * names it, beside the rows that are whole.
 */
import t from 'tap'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { setRouteRail } from '../../src/processor/commands/operators/route_rail_set.js'
import { pauseSubmissions } from '../../src/processor/commands/operators/submissions_pause.js'
import { issueKey } from '../../src/processor/commands/partners/key_issue.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { serveConsole } from '../console/served_console.js'
import { readPage, signIn } from '../console/stack.js'
import { OPERATOR, executed, pay } from '../processor/scenarios.js'
import { callersIn } from '../processor/approval_cases.js'
import { rawBooks } from '../support/books.js'
import { withEveryRole } from '../support/callers.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld, viewOf, type World } from '../support/world.js'
import { cliOf, TOKEN } from './shard_clis.js'

const OTHER = 'other' as PartnerId
const BEYOND = '1000000000000000000'

interface Seen {
  /** What damages the row. */
  readonly sql: string
  readonly command: readonly string[]
  readonly page: string
  readonly sentence: RegExp
  /** The id of a row that is whole. */
  readonly beside: string
}

const SEEN: readonly Seen[] = [
  {
    sql: `UPDATE partners SET created_at = ${BEYOND} WHERE id = 'other'`,
    command: ['partner', 'list'],
    page: '/partners',
    ...{ sentence: /partner other: corrupt row/, beside: 'demo' },
  },
  {
    sql: `UPDATE signing_keys SET created_at = ${BEYOND} WHERE tenant = 'other_sandbox'`,
    command: ['key', 'list', 'other', 'sandbox'],
    page: '/partners/other',
    ...{ sentence: /signing key other_sandbox_\w+: corrupt row/, beside: 'other' },
  },
  {
    sql: `UPDATE callers SET created_at = ${BEYOND} WHERE name = 'books'`,
    command: ['callers', 'list'],
    page: '/callers',
    ...{ sentence: /caller books: corrupt row/, beside: 'ledger' },
  },
  {
    sql: `UPDATE rates SET set_at = ${BEYOND} WHERE currency = 'THB'`,
    command: ['rates', 'list'],
    page: '/money',
    ...{ sentence: /rate production THB: corrupt row/, beside: 'VND' },
  },
  {
    sql: `UPDATE submission_pauses SET paused_at = ${BEYOND} WHERE subject = 'rail sandbox'`,
    command: ['submissions', 'list'],
    page: '/money',
    ...{ sentence: /pause of rail sandbox: corrupt row/, beside: 'corridor th_promptpay' },
  },
  {
    sql: `UPDATE rail_routes SET set_at = ${BEYOND} WHERE route = 'sandbox/vn_vietqr'`,
    command: ['routes', 'list'],
    page: '/money',
    ...{ sentence: /rail of sandbox\/vn_vietqr: corrupt row/, beside: 'sandbox/th_promptpay' },
  },
  {
    sql: `UPDATE operator_log SET at = ${BEYOND} WHERE action = 'partner_suspend'`,
    command: ['actions'],
    page: '/actions',
    ...{ sentence: /action \d+: corrupt row/, beside: 'partner_resume' },
  },
  {
    sql: `UPDATE discrepancies SET at = ${BEYOND} WHERE id = (SELECT min(id) FROM discrepancies)`,
    command: ['discrepancy', 'list'],
    page: '/discrepancies',
    ...{ sentence: /discrepancy \S+: corrupt row/, beside: 'pout_' },
  },
]

async function fill(world: World): Promise<void> {
  const service = (name: string) =>
    ({ kind: 'service', name, roles: [], partners: [], certificate: name }) as const
  for (const command of [
    createPartner(OPERATOR, OTHER, { corridors: [], withFunds: false }),
    issueKey(OPERATOR, tenantOf(OTHER, 'sandbox')),
    createCaller(OPERATOR, callersIn(world), service('books')),
    createCaller(OPERATOR, callersIn(world), service('ledger')),
    setRate(OPERATOR, 'THB', '36.10'),
    setRate(OPERATOR, 'VND', '26100'),
    pauseSubmissions(OPERATOR, 'rail sandbox'),
    pauseSubmissions(OPERATOR, 'corridor th_promptpay'),
    setRouteRail(OPERATOR, 'sandbox/vn_vietqr', 'sandbox'),
    changePartner(OPERATOR, 'demo', { kind: 'suspend' }),
    changePartner(OPERATOR, 'demo', { kind: 'resume' }),
  ]) {
    viewOf(await world.run(command))
  }
  const { id } = await pay(world)
  for (const transactionId of ['TX1', 'TX2', 'TX3'])
    await world.railReports(executed(id, { transactionId }))
}

t.test('one damaged row of each list', async (t) => {
  const world = await createWorld(t)
  await fill(world)
  const books = await rawBooks(world.folder)
  for (const { sql } of SEEN) await books.run(sql)
  await books.close()
  await world.rebuild()
  const served = { world, shard: 'books', shards: ['books'] }
  const { address } = await serveShard(t, { ...served, callers: withEveryRole(TOKEN, 'ann') })
  const ops = cliOf(t, [address])
  const url = await serveConsole(t, { processors: [address], clock: world.clock })
  const cookie = await signIn({ url, token: TOKEN })

  for (const { command, page, sentence, beside } of SEEN) {
    const { exitCode, out, err } = await ops(...command)
    t.equal(exitCode, 0, `${command.join(' ')} ${err}`)
    t.match(out, sentence)
    t.match(out, beside)
    const { status, text } = await readPage(url + page, cookie)
    t.equal(status, 200)
    t.match(text, sentence, page)
    t.match(text, beside)
    for (const seen of [out, text]) t.notMatch(seen, /RangeError|Invalid time|NaN|\bat .*\.js:/)
  }
})
