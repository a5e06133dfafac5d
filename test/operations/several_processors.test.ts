/** The CLI with several processors: lists of all shards, and commands about one of them. */
import { printed, refused, usageError } from '../support/operator_cli.js'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createListener, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { DAY, MINUTE, plus, SECOND, systemClock, toRfc3339 } from '../../src/base/clock.js'
import { addOrphans } from '../../src/processor/commands/operators/orphan_add.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { freePort } from '../../src/supervisor/ports.js'
import { serveConsole } from '../console/served_console.js'
import { readPage, signIn } from '../console/stack.js'
import { execution } from '../processor/recovery/orphans.js'
import { executed, OPERATOR, pay } from '../processor/scenarios.js'
import { eventually } from '../support/eventually.js'
import { startProgram, type CliResult } from '../support/program.js'
import { testCluster } from '../support/served_shard.js'
import {
  all,
  BECAUSE,
  cliOf,
  operatorFiles,
  startCluster,
  startShard,
  TOKEN,
  type Listed,
} from './shard_clis.js'

const BOTH = ['--corridors', 'th_promptpay,vn_vietqr']
const STATEMENT_HEAD = 'time,transaction_id,instruction_id,movement,currency,amount\n'
const STATEMENT = `${STATEMENT_HEAD}2026-11-21T00:00:00Z,tx_1,pout_1,executed,USD,100\n`

interface Counted {
  readonly values: number
}

t.test('two shards with an owner', async (t) => {
  const shards = ['books_1', 'books_2']
  const [one, two] = await Promise.all(shards.map((shard) => startShard(t, shard, shards)))
  const spare = `127.0.0.1:${await freePort('127.0.0.1')}`
  const ops = cliOf(t, [two!, spare, one!])

  t.test('a command that applies to any shard requires --shard', async (t) => {
    const unnamed = await ops('partner create acme', ...BOTH, ...BECAUSE)
    t.match(unnamed, usageError(/--shard, of books_1, books_2\./))
    t.match(
      await ops('partner create acme --shard books_9', ...BOTH, ...BECAUSE),
      usageError('There is no shard books_9: books_1, books_2.\n'),
    )
    await ops.json('partner create acme --shard books_1', ...BOTH, ...BECAUSE)
    await ops.json('partner create umbrella --shard books_2', ...BOTH, ...BECAUSE)
    const own = await ops.json('partner list --shard books_2')
    t.same(namesIn(own), ['demo', 'umbrella'])
  })

  t.test('a command about a partner uses its shard', async (t) => {
    for (const partner of ['acme', 'umbrella']) {
      const money = await ops('deposit', partner, 'sandbox', 'USD', '10', ...BECAUSE)
      t.match(money, printed(`credited to ${partner}`))
      const suspended = await ops.json('partner suspend', partner, ...BECAUSE)
      t.match(suspended, { partner_id: partner, suspended: true })
      const balance = await ops('trial-balance', `${partner}_sandbox`)
      t.match(balance, printed('The books balance.'))
    }
    t.match(
      await ops('deposit unknown sandbox USD 10', ...BECAUSE),
      usageError(/There is no partner unknown/),
    )
    t.match(await ops('payout show pout_01KA00000000000000000000000'), refused('No such payout.\n'))
  })

  t.test('lists have the entries of both shards, in one order', async (t) => {
    t.same(namesIn(await ops.json('partner list')), ['demo', 'acme', 'demo', 'umbrella'])
    const log = (await ops.json('actions'))['data'] as Listed
    const partners = log.map(({ subject }) => subject?.split(/[_ ]/)[0])
    t.same(new Set(partners), new Set(['acme', 'umbrella']))
    t.equal(log.length, 6)
    const times = log.map(({ at }) => at)
    t.same(times, [...times].sort().reverse(), 'newest first')
    const whole = await ops.json('trial-balance')
    t.equal(whole['balanced'], true)
    const tenants = new Set((whole['lines'] as Listed).map(({ tenant }) => tenant))
    t.ok(tenants.has('acme_sandbox') && tenants.has('umbrella_sandbox'))
    t.match(await ops('outcomes unknown'), printed('There are no unknown outcomes.\n'))
  })

  t.test('the journal has the entries of both shards, a statement those of one', async (t) => {
    const out = join(all, 'journal.csv')
    const period = ['--from', '2026-11-01', '--until', '2026-12-01', ...BECAUSE, '--out', out]
    t.match(await ops.json('journal', ...period), { equals_trial_balance: true })
    const lines = readFileSync(out, 'utf8').split('\r\n').slice(1, -1)
    for (const [shard, partner] of [
      ['books_1', 'acme'],
      ['books_2', 'umbrella'],
    ] as const) {
      const own = lines.filter((line) => line.includes(`,${partner},sandbox,`))
      t.ok(own.length > 1)
      t.ok(own.every((line) => line.split(',')[1]?.startsWith(`${shard}-`)))
      const asked = ['partner', 'statement', partner, '--month', '2026-11']
      const statement = await ops(...asked, '--environment', 'sandbox', ...BECAUSE)
      t.equal(statement.exitCode, 0, statement.err)
      t.match(statement.out, /,deposit,dep_\w+,USD,available,10\.00,,/)
      const alone = await ops.json('journal', '--shard', shard, ...period)
      t.ok(Number(alone['lines']) < lines.length)
    }
    const trial = (await ops.json('trial-balance'))['lines'] as object[]
    const { lines: found } = await ops.json('balances --at 2026-11-22')
    const textOf = (line: object): string => JSON.stringify(line)
    t.same((found as object[]).map(textOf).sort(), trial.map(textOf).sort())
  })

  t.test('the master key file is of all shards', async (t) => {
    t.match(await ops('master-key list --shard books_1'), usageError(/leave --shard out\.\n$/))
    const { data } = (await ops.json('master-key list')) as { data: readonly Counted[] }
    const values = data.map((key) => key.values)
    for (const at of [one!, two!]) {
      const alone = await cliOf(t, [at])('master-key list --json')
      const listed = JSON.parse(alone.out) as { data: Counted[] }
      t.ok(listed.data.some((key) => key.values > 0))
      listed.data.forEach((key, index) => (values[index]! -= key.values))
    }
    t.same(new Set(values), new Set([0]), 'the sum of both')
    const done = await ops('master-key reencrypt', ...BECAUSE)
    t.match(done, printed('encrypts since'), done.err)
  })

  t.test('a list of the webhook pools, and what is about all shards', async (t) => {
    t.match(await ops('webhooks dead'), refused(/^configuration_error: A req/))
    const cursor = ['--cursor', 'books_9:abc']
    t.match(await ops('webhooks dead', ...cursor), usageError('of books_9, which'))
    const day = ['--from', '2026-11-21', '--shard', 'books_1']
    t.match(
      await ops('reconcile day.csv', ...day),
      usageError('The statement has the payments of all shards: leave --shard out.\n'),
    )
    const archive = ['archive', '/archive/payments.db', '--before', '2020-01-01', '--reason', 'r']
    t.match(
      await ops(...archive),
      usageError('Each shard has an archive: name it with --shard, of books_1, books_2.'),
    )
  })
})

t.test('books outside of a cluster have the address as their name, also in a cursor', async (t) => {
  const one = await startShard(t, '', [])
  const dead = await cliOf(t, [one])('webhooks dead', '--cursor', `${one}:abc`)
  t.match(dead, refused(/^invalid_request/), 'it is asked')
})

t.test('submissions are paused and resumed in both shards', async (t) => {
  const shards = ['books_1', 'books_2']
  const { cluster, ops, worlds } = await startCluster(t, shards)
  const RAIL = ['--rail', 'sandbox', ...BECAUSE]
  const submitted = (): readonly number[] =>
    worlds.map(
      ({ railInstructions }) => railInstructions.filter(({ kind }) => kind === 'instruct').length,
    )

  t.match(await ops('submissions resume', ...RAIL), refused(/are not paused/))
  t.match(
    await ops('submissions pause', ...RAIL),
    printed(/sandbox: paused\nsettings version 1: applied by books_1, books_2/),
  )
  const { data } = await ops.json('submissions list')
  t.match(data, [{ subject: 'rail sandbox', actor: 'ann' }])
  t.equal((data as Listed).length, 1, 'once, as both shards have it')
  for (const world of worlds) await pay(world)
  t.same(submitted(), [0, 0])

  cluster.blind.add('books_2')
  t.match(await ops('submissions resume', ...RAIL), {
    ...{ exitCode: 1, out: /applied by books_1\n[^]*NOT APPLIED YET: books_2\./ },
  })
  for (const world of worlds) await world.fireTimers(SECOND)
  t.same(submitted(), [1, 0], 'the other waits')
  const left = (await ops.json('submissions list'))['data']
  t.match(left, [{ subject: 'rail sandbox' }], 'it is listed while a shard has it')
  cluster.blind.clear()
  t.match(await ops('shard list'), { out: /books_2 [^\n]* 2 {2}owned/ })
  for (const world of worlds) await world.fireTimers(SECOND)
  t.same(submitted(), [1, 1])
  t.match(await ops('submissions list'), { out: 'No submissions are paused.\n' })
})

t.test('a statement is compared with the books of all shards', async (t) => {
  const shards = ['books_1', 'books_2']
  const { cluster, ops } = await startCluster(t, shards)
  const paid: { readonly id: string; readonly line: string }[] = []
  for (const shard of shards) {
    const world = cluster.worlds.get(shard)!
    const { id } = await pay(world)
    await world.railReports(executed(id, { transactionId: `tx_${shard}` }))
    const at = toRfc3339(world.clock.now())
    paid.push({ id, line: `${at},tx_${shard},${id},executed,VND,12500000\n` })
  }
  const file = join(all, 'both.csv')
  const days = ['--from', '2020-01-01', '--until', '2100-01-01']
  const reconcile = (lines: readonly string[]): Promise<CliResult> => {
    writeFileSync(file, [STATEMENT_HEAD, ...lines].join(''))
    return ops('reconcile', file, ...days, ...BECAUSE)
  }
  const whole = await reconcile(paid.map(({ line }) => line))
  t.equal(whole.exitCode, 0, whole.out + whole.err)
  for (const shard of shards) {
    const log = (await ops.json('actions', '--shard', shard))['data']
    t.match(log, [{ action: 'reconcile', actor: 'ann' }], `${shard} has it in its log`)
  }
  const ofRail = (rail: string): Promise<CliResult> =>
    ops('reconcile', file, ...days, '--rail', rail, ...BECAUSE)
  t.match(await ofRail('sandbox'), { exitCode: 0 })
  t.match(
    await ofRail('sandbx'),
    usageError('No route and no booking of the period is of the rail sandbx: sandbox.\n'),
  )
  for (const [kept, missing] of [paid, paid.toReversed()] as const) {
    const found = await reconcile([kept!.line])
    t.match(found, { exitCode: 1, out: missing!.id })
    t.notMatch(found.out, kept!.id)
  }
})

t.test('payments of another shard are no orphan executions of the released one', async (t) => {
  const { ops, worlds } = await startCluster(t, ['books_1', 'books_2', 'books_3'])
  const [mine, ...others] = worlds
  const underWay = await Promise.all(others.map((world) => pay(world)))
  await mine!.run(enterRecovery('a test'))
  const at = toRfc3339(mine!.clock.now())
  const statement = join(all, 'lost_and_under_way.csv')
  writeFileSync(
    statement,
    STATEMENT_HEAD +
      `${at},tx_1,${underWay[0]!.id},executed,VND,12500000\n` +
      `${at},tx_2,pout_lost,executed,VND,12500000\n` +
      `${at},,${underWay[1]!.id},accepted,VND,12500000\n` +
      `${at},,pout_lost_2,accepted,VND,12500000\n`,
  )
  const release = ['recovery', 'release', '--shard', 'books_1', '--yes', ...BECAUSE]
  const released = await ops(...release, '--statement', statement)
  t.match(released, printed('2 orphan executions are recorded'), released.err)
  const { data } = await ops.json('recovery orphans')
  t.same((data as Listed).map((each) => each['instruction_id']).toSorted(), [
    'pout_lost',
    'pout_lost_2',
  ])
})

t.test('what another shard has matched is no orphan execution of one restored later', async (t) => {
  const { ops, worlds } = await startCluster(t, ['books_1', 'books_2'])
  const [later, first] = worlds
  await first!.run(enterRecovery('a test'))
  const lost = ['pout_lost', 'pout_dismissed'].map((id) => execution({ instruction_id: id }))
  await first!.run(addOrphans(OPERATOR, lost))
  first!.memory().recovery = null // as after its release
  const { id } = await pay(first!)
  const decide = (...words: string[]): Promise<CliResult> =>
    ops('recovery resolve', ...words, '--evidence', 'line 1', ...BECAUSE)
  t.match(await decide('pout_lost', '--match', id), printed(`matched to ${id}`))
  t.match(await decide('pout_dismissed', '--dismiss'), printed('pout_dismissed: resolved'))

  await later!.run(enterRecovery('a test'))
  const at = toRfc3339(later!.clock.now())
  const statement = join(all, 'matched_elsewhere.csv')
  const lines = lost.map((each) => `${at},TX9,${each.instruction_id},executed,VND,12500000\n`)
  writeFileSync(statement, STATEMENT_HEAD + lines.join(''))
  const release = ['recovery', 'release', '--shard', 'books_1', '--yes', ...BECAUSE]
  const released = await ops(...release, '--statement', statement)
  t.match(released, printed('1 orphan executions are recorded'), released.err)
  t.match((await ops.json('recovery orphans'))['data'], [{ instruction_id: 'pout_dismissed' }])
})

t.test('a decision about an orphan execution is one in each shard that lacks it', async (t) => {
  const shards = ['books_1', 'books_2']
  const { ops, worlds } = await startCluster(t, shards)
  const lost = [execution(), execution({ instruction_id: 'pout_2', reference: 'invoice 2' })]
  for (const world of worlds) {
    await world.run(enterRecovery('a test'))
    await world.run(addOrphans(OPERATOR, lost))
    world.memory().recovery = null // as after its release
  }
  const { id } = await pay(worlds[1]!)
  const open = async (): Promise<unknown[]> =>
    ((await ops.json('recovery orphans'))['data'] as Listed).map((each) => each['instruction_id'])
  const decide = (...words: string[]): Promise<CliResult> =>
    ops('recovery resolve', ...words, '--evidence', 'line 1', ...BECAUSE)
  t.same((await open()).toSorted(), ['pout_2', 'pout_2', 'pout_lost', 'pout_lost'])

  t.match(await decide('pout_lost', '--match', id), printed(`matched to ${id}`))
  t.same(await open(), ['pout_2', 'pout_2'])
  t.match(await decide('pout_2', '--dismiss'), printed('pout_2: resolved'))
  t.same(await open(), [])
  t.match(await decide('pout_2', '--dismiss'), refused('orphan_execution_resolved'))

  // The payment is in the first shard that is asked, then in the last one.
  for (const [instruction_id, has] of [
    ['pout_3', 0],
    ['pout_4', 1],
  ] as const) {
    for (const world of worlds) {
      await world.run(enterRecovery('a test'))
      await world.run(addOrphans(OPERATOR, [execution({ instruction_id })]))
    }
    worlds[has]!.memory().recovery = null // the other is not released
    const { id: held } = await pay(worlds[has]!)
    const match = (): Promise<CliResult> => decide(instruction_id, '--match', held)
    const behind = shards[1 - has]
    t.match(await match(), {
      ...{ exitCode: 1, out: new RegExp(`matched to[^]*INCOMPLETE: ${behind}`) },
    })
    t.same(await open(), [instruction_id])
    worlds[1 - has]!.memory().recovery = null
    t.match(await match(), printed(`matched to ${held}`), 'a repeat ends it')
    t.same(await open(), [])
    t.match(await match(), printed(`matched to ${held}`), 'and is safe again')
    t.match(await decide(instruction_id, '--match', id), refused('orphan_execution_resolved'))
  }
})

t.test('each shard has an archive of its own', async (t) => {
  const shards = ['books_1', 'books_2']
  const { cluster, addresses, ops } = await startCluster(t, shards)
  const folder = join(all, 'archives')
  mkdirSync(folder, { mode: 0o700 })
  const url = await serveConsole(t, { processors: addresses, clock: systemClock })
  const cookie = await signIn({ url, token: TOKEN })
  for (const shard of shards) {
    const world = cluster.worlds.get(shard)!
    const { id } = await pay(world)
    await world.railReports(executed(id, { transactionId: `tx_${shard}` }))
    const day = toRfc3339(plus(world.clock.now(), MINUTE))
    world.clock.pass(181 * DAY)
    const before = ['--before', day, ...BECAUSE, '--shard', shard]
    const file = join(folder, `${shard}.db`)
    t.match(await ops('archive', file, ...before), printed(`1 payments moved to ${file}; 0 stay`))
    t.match(await ops('find', id), printed(file))
    t.match(
      await ops('payout show', id),
      refused(`${id} has left the books for the archive ${file}.\n`),
    )
    for (const page of [`/payments/${id}`, `/traces/${id}`]) {
      const { text } = await readPage(url + page, cookie)
      t.match(text, file, page)
    }
  }
  for (const shard of shards) {
    const log = (await ops.json('actions', '--shard', shard))['data']
    t.match(log, [{ action: 'archive_payments', actor: 'ann' }])
    t.equal((log as Listed).length, 1)
  }
})

t.test('a shard without an owner is reported', async (t) => {
  const shards = ['books_1', 'books_2']
  const one = await startShard(t, 'books_1', shards)
  const ops = cliOf(t, [one, `127.0.0.1:${await freePort('127.0.0.1')}`])
  const listed = await ops('partner list')
  t.match(listed, { exitCode: 1, out: /demo[^]*INCOMPLETE: books_2 did not answer\.\n$/ })
  const value = JSON.parse((await ops('actions --json')).out) as object
  t.match(value, { data: [], missing_shards: ['books_2'] })
  const shown = await ops('intent show pi_01KA00000000000000000000000')
  t.match(shown, refused('No such payment intent.\nNot reached: books_2.\n'))
  t.match(await ops('deposit demo sandbox USD 10', ...BECAUSE), { exitCode: 0 })
  t.match(
    await ops('deposit acme sandbox USD 10', ...BECAUSE),
    refused('acme is not listed, and books_2 did not answer.\n'),
  )
  t.match(
    await ops('recovery show --shard books_2'),
    usageError('No processor of PROCESSORS has books_2 now.\n'),
  )
  t.match(await ops('recovery show --shard books_1'), { exitCode: 0 })
  const statement = join(all, 'day.csv')
  writeFileSync(statement, STATEMENT)
  const release = ['recovery', 'release', '--statement', statement, ...BECAUSE]
  t.match(
    await ops(...release, '--shard', 'books_1'),
    refused(/This needs every shard: books_2 did not answer\./),
  )
  const keys = await ops('master-key list')
  t.match(keys, { exitCode: 1, out: /INCOMPLETE: books_2 did not answer\.\n$/ })
})

t.test('a move to a processor that cannot take the shard is refused', async (t) => {
  const shards = ['books_1', 'books_2']
  const ops = cliOf(t, [await startShard(t, 'books_1', shards, testCluster())])
  const { out } = await ops('shard list')
  t.match(out, /p8 +10\.0\.0\.8:50051 +0 +any shard; not books_2: master keys are missing: k2\n/)
  t.match(out, /p9 +10\.0\.0\.9:50051 +0 +any shard, books_1 first\n/)
  const to = (name: string): readonly string[] => ['--to', name, ...BECAUSE]
  t.match(
    await ops('shard move books_2', ...to('p8')),
    refused(/^processor_cannot_take: .*cannot take that shard/),
  )
  t.match(await ops('shard move books_2', ...to('p7')), refused(/^processor_not_waiting/))
  t.notMatch((await ops('actions')).out, 'move_shard', 'neither is in the log')
})

t.test('processors that accept and never answer hold up no command', async (t) => {
  const shards = ['books_1', 'books_2']
  const one = await startShard(t, 'books_1', shards, testCluster())
  const open = new Set<Socket>()
  const asked = new Set<string>()
  /** How many were asked before the first one was given up. */
  let askedAtOnce = 0
  const silent = createListener((socket) => {
    asked.add(socket.localAddress ?? '')
    open.add(socket.on('error', () => undefined).resume()) // else its end is not noticed
    socket.once('close', () => (askedAtOnce ||= asked.size))
  })
  await new Promise<void>((resolve) => silent.listen(0, '0.0.0.0', resolve))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const { folder, tokenFile } = operatorFiles(t)
  const started = performance.now()
  const listed = await startProgram('operations/main.js', ['shard', 'list'], {
    ...{ DATA_DIR: folder, OPERATOR_TOKEN_FILE: tokenFile, DOT_ENV: '' },
    PROCESSORS: [one, ...[1, 2, 3].map((host) => `127.0.0.${host}:${port}`)].join(),
  }).ended
  t.comment(`${Math.round(performance.now() - started)} ms`)
  t.match(listed, printed(/books_1 .* owned/))
  await eventually('they are given up', () => askedAtOnce > 0)
  t.equal(askedAtOnce, 3, 'all were asked at once')
})

t.test('a change is refused by a shard in recovery mode, others are still found', async (t) => {
  const { ops, worlds } = await startCluster(t, ['books_1', 'books_2'])
  const [mine, other] = await Promise.all(
    worlds.map((world) => pay(world, { reference: 'sandbox:review' })),
  )
  await worlds[0]!.run(enterRecovery('a test'))
  const approve = (id: string): Promise<CliResult> => ops('payout approve', id, ...BECAUSE)
  t.match(await approve(other!.id), { exitCode: 0 })
  t.match(
    await approve(mine!.id),
    refused(/^books_1: recovery_active: The processor is in recovery mode: it only/),
  )
})

t.test('without PROCESSORS --shard is rejected', async (t) => {
  const ops = cliOf(t, [])
  t.match(
    await ops('partner list --shard books_1'),
    usageError(/^--shard needs the setting PROCESSORS/),
  )
})

const namesIn = (list: Readonly<Record<string, unknown>>): (string | undefined)[] =>
  (list['data'] as Listed).map(({ partner_id }) => partner_id)
