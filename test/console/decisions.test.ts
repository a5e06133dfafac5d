/**
 * The decisions of operators in the console, in a real browser: on two shards in this process,
 * whose books have something to decide of every kind (filled_books).
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import t from 'tap'
import { UNKNOWN_AFTER_MS } from '../../actors/rail_inquiry.js'
import { OPERATOR_ROLES } from '../../src/auth/caller.js'
import { createCallers, type Callers } from '../../src/auth/callers.js'
import { MINUTE } from '../../src/base/clock.js'
import type { PayoutId } from '../../src/base/ids.js'
import { IDLE_MS } from '../../src/console/session/sessions.js'
import { revokeCaller } from '../../src/processor/commands/callers/caller_revoke.js'
import { rotateCaller } from '../../src/processor/commands/callers/caller_rotate.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { approvePayout } from '../../src/processor/commands/payouts/payout_review.js'
import type { QueryRunner } from '../../src/processor/queries/query.js'
import { skipsBrowser } from '../docs/browser.js'
import { discrepanciesOf, executed, payout, see } from '../processor/scenarios.js'
import { eventually } from '../support/eventually.js'
import { serveShard, testCluster } from '../support/served_shard.js'
import { tempFolder } from '../support/temp_folder.js'
import { createWorld, DEMO, viewOf, type Home, type World } from '../support/world.js'
import { checkLook, openPage, shoot } from './browser_page.js'
import { fillBooks } from './filled_books.js'
import { operator, serveConsole, tokenOf } from './served_console.js'
import { actionsIn, readPage, ROLE_OF, signIn } from './stack.js'

/** Ten pages. */
const ROWS = 1_000
const SHARDS = ['books_1', 'books_2'] as const
const PAGES = [
  ...['/review', '/approvals', '/approvals?resolved=yes', '/unknown', '/discrepancies'],
  ...['/discrepancies?resolved=yes', '/shards', '/callers', '/actions', '/partners/demo'],
]
const BECAUSE = 'the bank has confirmed it'
const EVIDENCE = 'line 12 of the statement'

const OPERATORS = [
  ...[operator('ann'), operator('ben'), operator('eve'), operator('dot')],
  ...OPERATOR_ROLES.map((role) => operator(`may-${role}`, [role])),
]
const callersOf = (world: World): Callers =>
  createCallers(OPERATORS, world.clock, world.memory().callers)

t.setTimeout(0)

t.test('the console', { skip: skipsBrowser }, async (t) => {
  // A test has one folder, and each world needs its own.
  const homes = tempFolder(t)
  const homeOf = (): Home => {
    const folder = mkdtempSync(join(homes, 'world-'))
    return { testdir: () => folder, teardown: t.teardown.bind(t) }
  }
  const books = await fillBooks(t, homeOf(), callersOf, ['ann', 'ben'])
  const { world } = books
  const other = await createWorld(homeOf(), { startedAt: world.clock.now() })
  const cluster = testCluster()
  const slow = new Set<string>()
  const reader = (own: QueryRunner): QueryRunner => ({
    run: (query, isAwaited) =>
      slow.has(query.name) ? new Promise(() => undefined) : own.run(query, isAwaited),
  })
  const serve = (served: World, shard: string) =>
    serveShard(t, {
      ...{ world: served, shard, shards: SHARDS, cluster, reader },
      callers: callersOf(served),
    })
  const [first, second] = [await serve(world, SHARDS[0]), await serve(other, SHARDS[1])]
  const url = await serveConsole(t, {
    ...{ processors: [first.address, second.address], clock: world.clock },
  })
  const { page, faults } = await openPage(t, url)
  const main = (): Promise<string> => page.innerText('main')
  const notice = (): Promise<string> => page.innerText('main .notice')
  const enter = async (name: string): Promise<void> => {
    await page.fill('#token', tokenOf(name))
    await page.keyboard.press('Enter')
    await page.locator('.operator strong', { hasText: name }).waitFor()
  }
  const rowOf = (id: string): Locator => page.locator('tr', { has: page.getByText(id).first() })
  /** Opens a form, fills it in and sends it. @returns what the next page says */
  const decide = async (
    where: Locator,
    [title, button]: readonly [string, string],
    fields: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    await where.getByText(title, { exact: true }).click()
    const form = where.locator('details[open] form')
    for (const [name, value] of Object.entries({ ...fields, reason: BECAUSE })) {
      const field = form.locator(`[name=${name}]`)
      const isChoice = (await field.locator('option').count()) > 0
      await (isChoice ? field.selectOption(value) : field.fill(value))
    }
    await form.getByRole('button', { name: button }).click()
    await page.locator('main .notice').first().waitFor()
    return notice()
  }

  await t.test('each role is offered its changes on every page', async (t) => {
    const paths = [...PAGES, ...books.held, books.captured, books.completed.small].map((path) =>
      path.startsWith('/') ? path : `/payments/${path}`,
    )
    for (const role of OPERATOR_ROLES) {
      const cookie = await signIn({ url, token: tokenOf(`may-${role}`) })
      const offered = new Set<string>()
      for (const path of paths) {
        const { status, text } = await readPage(url + path, cookie)
        t.equal(status, 200, path)
        for (const action of actionsIn(text)) offered.add(action)
        const others = actionsIn(text).filter((action) => ROLE_OF[action] !== role)
        t.same(others, [], `${role}: ${path}`)
      }
      const least = { read: 0, operate: 4, decide: 12 }[role]
      t.ok(offered.size >= least, `${role}: ${[...offered].join(' ')}`)
    }
  })

  await t.test('a payment is approved with the keyboard alone', async (t) => {
    await page.goto(`${url}/review`)
    await page.keyboard.type(tokenOf('ann'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Review queue' }).waitFor()
    const focused = (what: string): Promise<unknown> =>
      page.evaluate(`((e) => ${what})(document.activeElement)`)
    await page.keyboard.press('Tab')
    t.equal(
      await focused('e.getBoundingClientRect().left >= 0 && e.textContent'),
      'Skip to the content',
    )
    await page.keyboard.press('Enter')
    const [id = ''] = books.equal.intents
    const isThere = `e.localName === 'summary' && e.closest('tr').innerText.includes('${id}')`
    for (let i = 0; i < 60 && (await focused(isThere)) !== true; i++) {
      await page.keyboard.press('Tab')
      const shown = 'getComputedStyle(e).outlineStyle + e.getBoundingClientRect().width'
      t.match(await focused(shown), /^solid[1-9]/, 'it is seen where the focus is')
    }
    for (const key of ['Enter', 'Tab']) await page.keyboard.press(key)
    t.equal(await focused('e.name'), 'other_than')
    await page.keyboard.type('pi_lost')
    await page.keyboard.press('Tab')
    t.equal(await focused('e.name'), 'reason')
    await page.keyboard.type(BECAUSE)
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText(`${id} is authorized.`).waitFor()
    t.ok(
      world.railInstructions.some((each) => each.kind === 'instruct' && each.instruction.id === id),
    )
    const held = page.locator(".card:has(h2:text-is('Held intents')) tr", { hasText: id })
    t.equal(await held.count(), 0)
  })

  await t.test('filled pages are readable by all, in both themes, and fit', async (t) => {
    for (const path of [...PAGES, `/payments/${books.contradicted[0]}`, '/nothing']) {
      await page.goto(url + path)
      await checkLook(t, page, path)
    }
    faults.length = 0 // the browser reports the 404
  })

  await t.test('a page is printed without what is only for screens', async (t) => {
    await page.goto(`${url}/payments/${books.held[0]}`)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const only of ['nav', '.top', '.actions', '.command', '.card:has(.actions)']) {
      t.equal(await page.locator(only).first().isVisible(), false, only)
    }
    t.match(await page.innerText('main'), /Details[^]*State[^]*Timeline/)
    const ink =
      'getComputedStyle(document.body).color + getComputedStyle(document.body).backgroundColor'
    t.equal(await page.evaluate(ink), 'rgb(24, 35, 43)rgba(0, 0, 0, 0)', 'dark on paper')
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  })

  await t.test('held intents and orphan executions are decided', async (t) => {
    await page.goto(`${url}/review`)
    const card = (title: string): Locator => page.locator(`.card:has(h2:text-is('${title}'))`)
    const [, intent = ''] = books.equal.intents
    const held = card('Held intents').locator('tr', { hasText: intent })
    t.equal(await decide(held, ['Reject', 'Reject it']), `${intent} is failed.`)
    const orphan = (id: string): Locator => card('Orphan executions').locator('tr', { hasText: id })
    const { matching, other: unknown } = books.orphans
    const match = { payment: books.equal.payout, evidence: EVIDENCE }
    t.equal(
      await decide(orphan(matching), ['Match', 'It paid this payment'], match),
      `${matching} is matched.`,
    )
    t.match(await see(world, books.equal.payout), { status: 'completed' })
    const dismissed = ['Dismiss', 'It belongs to no payment'] as const
    t.equal(
      await decide(orphan(unknown), dismissed, { evidence: EVIDENCE }),
      `${unknown} is resolved.`,
    )
    t.equal(await orphan(unknown).count(), 0)
  })

  await t.test('discrepancies are settled, and one that was kept is cleared', async (t) => {
    const settle = (id: string, settlement: string): Promise<string> =>
      decide(rowOf(id), ['Settle', 'Settle it'], { settlement, evidence: EVIDENCE })
    await page.goto(`${url}/discrepancies`)
    t.equal(await page.locator('option[value=credit_partner]').count(), 0, 'none was a return')
    const [one = '', two = '', three = '', four = ''] = books.contradicted
    for (const [id, settlement] of [
      ...([
        [one, 'undo'],
        [two, 'charge_partner'],
        [three, 'write_off'],
        [four, 'keep'],
      ] as const),
    ]) {
      t.match(await settle(id, settlement), new RegExp(`^dis_\\w+ is settled: ${settlement}\\.$`))
    }
    t.same(await discrepanciesOf(world), [])
    await page.getByRole('link', { name: 'Settled' }).click()
    t.equal(await page.locator('main summary', { hasText: 'Settle' }).count(), 1, 'the kept one')
    t.match(await settle(four, 'write_off'), 'is settled: write_off.')
  })

  await t.test('payments are reversed, a large one with a second operator', async (t) => {
    const reverse = async (id: string): Promise<string> => {
      await page.goto(`${url}/payments/${id}`)
      const card = page.locator(".card:has(h2:text-is('Decide'))")
      return decide(card, ['Reverse', 'Record the return'], { evidence: EVIDENCE })
    }
    const { small, large } = books.completed
    t.equal(await reverse(small), `${small} over VND 4,000,000 is reversed.`)
    t.equal(await reverse(books.captured), `${books.captured} is refunded.`)
    t.match(await reverse(large), /^second_operator_required: .+ It is requested\./)
    t.match(await see(world, large), { status: 'completed' })

    await page.goto(`${url}/approvals`)
    const [approved = '', rejected = ''] = books.requests
    t.match(
      await decide(rowOf(approved), ['Approve', 'Approve it']),
      /: reverse_payout pout_\w+ is/,
    )
    t.equal(await decide(rowOf(rejected), ['Reject', 'Reject it']), `${rejected} is rejected.`)
    const own = page.locator('tr', { hasText: large })
    t.match(await own.innerText(), /Another operator approves it\.\s+Withdraw$/)
    t.equal(await own.getByText('Approve', { exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await enter('ben')
    await page.goto(`${url}/approvals`)
    t.match(await decide(own, ['Approve', 'Approve it']), `reverse_payout ${large} is made.`)
    t.match(await see(world, large), { status: 'reversed' })
    await page.getByRole('link', { name: 'Decided' }).click()
    t.match(await rowOf(approved).innerText(), `approved by ann: ${BECAUSE}`)
    t.match(await rowOf(rejected).innerText(), `rejected by ann: ${BECAUSE}`)
  })

  await t.test('a shard is moved, and the open page follows it', async (t) => {
    await page.goto(`${url}/shards`)
    t.match(await main(), /books_1\s+owned[^]*p8[^]*not books_2\s+master keys are missing: k2/)
    const card = page.locator(".card:has(h2:text-is('Move'))")
    const move = ['Move a shard', 'Move the shard'] as const
    t.match(
      await decide(card, move, { shard: 'books_2', to: 'p8' }),
      /cannot take/,
      'one that has not its keys',
    )
    t.match(await decide(card, move, { shard: 'books_1', to: 'p9' }), 'books_1 moves to p9.')
    t.match(await main(), /books_1\s+moves to p9/)
    cluster.moves.clear()
    await page.locator('#live tr', { hasText: /books_1\s+owned/ }).waitFor()
  })

  await t.test('an update leaves what an operator is doing', async (t) => {
    const [id = ''] = books.held
    await page.goto(`${url}/payments/${id}`)
    await page.getByText('Approve', { exact: true }).click()
    await page.locator('details[open] [name=reason]').fill('half a reas')
    await page.evaluate('scrollBy(0, 40); scrolled = scrollY')
    await world.run(approvePayout({ name: 'ben', reason: 'a test' }, id))
    await page.locator('#live .headline', { hasText: 'processing' }).waitFor()
    await page.keyboard.type('on')
    t.equal(await page.locator('details[open] [name=reason]').inputValue(), 'half a reason')
    t.ok(await page.evaluate('scrolled > 0'))

    const link = page.getByRole('link', { name: 'As a waterfall' })
    await link.focus()
    await page.evaluate('document.activeElement.isKept = true')
    const { recipient_amount: amount } = (await see(world, id)) as never as Record<string, string>
    await world.railReports(executed(id as PayoutId, { amount: BigInt(amount ?? '') }))
    await page.locator('#live .headline', { hasText: 'completed' }).waitFor()
    t.equal(await page.evaluate('document.activeElement.isKept'), true, 'the focus is where it was')
    t.equal(await page.locator('.timeline .badge', { hasText: 'completed' }).count(), 1)
    t.match(
      await page.getByRole('img', { name: 'State' }).getAttribute('aria-label'),
      'State: completed. Passed: created, processing, completed.',
    )
  })

  await t.test('a page with a slow part shows the others', async (t) => {
    slow.add('list_held_intents')
    await page.goto(`${url}/review`)
    const shown = await main()
    t.match(shown, /VND 25,000,000[^]*Incomplete\. books_1, books_2 did not answer\./)
    t.match(shown, /Held intents\s+There is nothing in the books that answered\.[^]*pi_lost/)
    await shoot(page, '/review slow', 'light')
    slow.clear()
  })

  await t.test(
    'a session that ends leads back, changes nothing, keeps what is typed',
    async (t) => {
      const [, id = ''] = books.held
      const ended = 'Your session has ended. Sign in again.'
      const typed = page.locator('details[open] [name=reason]')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await enter('eve')
      await page.goto(`${url}/payments/${id}`)
      await page.getByText('Reject', { exact: true }).click()
      await typed.fill('half a reas')
      world.clock.pass(IDLE_MS)
      await page.getByText(ended).waitFor()
      await enter('eve')
      t.equal(new URL(page.url()).pathname, `/payments/${id}`)
      t.equal(await typed.inputValue(), 'half a reas', 'as it was')
      t.match(await page.innerText('details[open]'), /^Reject/)
      world.clock.pass(IDLE_MS)
      await page.getByText(ended).waitFor()
      await enter('dot')
      t.equal(await typed.count(), 0, 'not for another operator')

      await page.goto(`${url}/review`)
      world.clock.pass(IDLE_MS)
      const told = await decide(rowOf(id), ['Approve', 'Approve it'])
      t.equal(told, 'Your session had ended, so nothing was changed. Sign in again.')
      t.match(await see(world, id), { status: 'created' })
      await enter('dot')
      t.equal(new URL(page.url()).pathname, '/review')
      t.equal(await typed.inputValue(), BECAUSE, 'what was sent and not done')
      await rowOf(id).getByRole('button', { name: 'Approve it' }).click()
      await page.getByRole('status').getByText(`${id} over VND 25,000,000 is processing.`).waitFor()
      await page.reload()
      t.equal(await typed.count(), 0, 'nothing is left of what was done')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await enter('eve')
      faults.length = 0 // the browser reports the 401
    },
  )

  await t.test('a revoked and an expired token end an open page', async (t) => {
    const everywhere = async (command: (of: World) => Parameters<World['run']>[0]) => {
      for (const each of [world, other]) viewOf(await each.run(command(each)))
    }
    await page.goto(url)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const by = { name: 'ann', reason: 'a test' }
    await everywhere((of) => revokeCaller(by, callersOf(of), 'eve'))
    await page.getByText('Your session has ended. Sign in again.').waitFor()

    await enter('dot')
    await everywhere((of) => rotateCaller({ ...by, name: 'dot' }, callersOf(of), 'dot'))
    await page.goto(`${url}/review`)
    t.match(await main(), 'Changes need the role decide.', 'the former token only reads')
    await page.goto(url)
    for (const each of [world, other]) each.clock.pass(11 * MINUTE)
    await page.getByText('Your session has ended. Sign in again.').waitFor()
    faults.length = 0 // the browser reports the 401
  })

  await t.test(`lists of ${ROWS} rows are pages`, async (t) => {
    await enter('ann')
    const few = { amount: '10000', reference: 'one of many' }
    await world.runAll(Array.from({ length: ROWS }, () => createPayout(DEMO, payout(few))))
    world.clock.pass(UNKNOWN_AFTER_MS)
    await page.goto(`${url}/unknown`)
    t.ok((await page.locator('tbody tr').count()) <= 100)
    await page.setViewportSize({ width: 390, height: 900 })
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'it fits')
    await page.setViewportSize({ width: 1280, height: 900 })
    const ids = (): Promise<string[]> => page.locator('td:first-child .id').allTextContents()
    const before = await ids()
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.waitForURL(/cursor=/)
    t.same(
      (await ids()).filter((id) => before.includes(id)),
      [],
      'others',
    )
    await page.goto(url)
    t.match(await main(), /Unknown outcomes\s+100\+/)
  })

  await t.test('a shard that is missing is named on every page', async (t) => {
    cluster.worlds.delete('books_2')
    await second.close()
    await eventually('the shards are found again', async () => {
      await page.goto(url)
      return (await main()).includes('no processor serves it')
    })
    for (const path of ['/', '/review', '/unknown', '/discrepancies', '/partners', '/actions']) {
      await page.goto(url + path)
      t.match(
        await page.getByRole('alert').first().innerText(),
        'Incomplete. books_2 did not answer.',
      )
    }
    await page.goto(url)
    t.match(await main(), /books_1 take payments[^]*books_2 no processor serves it/)
    await shoot(page, '/ missing', 'light')
    await page.goto(`${url}/shards`)
    t.match(await main(), /books_2\s+owner lost/)
  })
})
