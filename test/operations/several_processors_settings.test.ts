/** The CLI with several processors: settings and callers, which are those of all shards. */
import { printed, refused, usageError } from '../support/operator_cli.js'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tokenDigest } from '../../src/auth/caller_token.js'
import { createCallers } from '../../src/auth/callers.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { freePort } from '../../src/supervisor/ports.js'
import { testCluster } from '../support/served_shard.js'
import { all, BECAUSE, cliOf, startCluster, startShard, type Listed } from './shard_clis.js'

const ROUTE = {
  ...{ country: 'TH', currency: 'THB', enabled: true, handling: 'on_top' },
  ...{ platform_fixed: '700', platform_bps: 20, rail_fixed: '500', refund_fees_on_reversal: true },
}

t.test('a setting for all shards is set once', async (t) => {
  const shards = ['books_1', 'books_2', 'books_3']
  const served = shards.slice(0, 2)
  const cluster = testCluster()
  const addresses = await Promise.all(served.map((shard) => startShard(t, shard, shards, cluster)))
  const ops = cliOf(t, addresses)
  /** Without books_3, so it exits with 1. */
  const listed = async (...words: readonly string[]): Promise<Listed> => {
    const list = JSON.parse((await ops(...words, '--json')).out) as object
    t.match(list, { missing_shards: ['books_3'] })
    return (list as { data: Listed }).data
  }

  t.test('each served shard applies it; others are named', async (t) => {
    const done = await ops('rates set THB 36.50', ...BECAUSE)
    t.match(
      done,
      printed(
        [
          '1 USD = 36.50 THB from now on, 36.00 before',
          'settings version 1: applied by books_1, books_2',
          'not served, applied before they serve again: books_3\n',
        ].join('\n'),
      ),
    )
    const file = join(all, 'route.json')
    writeFileSync(file, JSON.stringify(ROUTE))
    t.match(await ops.json('routes set', file, ...BECAUSE), {
      ...{ platform_fixed: '700', settings_version: '2', unserved: ['books_3'] },
      ...{ applied_by: served, not_applied_by: [] },
    })
    for (const shard of served) {
      const { data } = await ops.json('rates list', '--shard', shard)
      const thb = { currency: 'THB', rate: '36.50', set_by: 'ann' }
      t.match(data, [
        { ...thb, environment: 'production' },
        { ...thb, environment: 'sandbox' },
        { currency: 'VND' },
      ])
      const log = (await ops.json('actions', '--shard', shard))['data']
      t.match(log, [
        { action: 'set_route', actor: 'ann', evidence: 'settings version 2' },
        { action: 'set_rate', actor: 'ann', subject: 'THB 36.50', reason: 'a test' },
      ])
    }
    t.match(await ops('shard list'), {
      out: /moves +settings +state[^]*books_1 [^\n]* 2  owned[^]*books_3 [^\n]* 0 of 2  owner lost/,
    })
  })

  t.test('lists have what shards agree on once', async (t) => {
    const rates = await listed('rates', 'list')
    t.same(
      rates.map(({ currency }) => currency),
      ['THB', 'THB', 'VND'],
    )
    const routes = await listed('routes', 'list')
    t.same(routes.map(({ country }) => country).sort(), ['ID', 'TH', 'VN'])
  })

  t.test('a setting that is not valid is not stored', async (t) => {
    writeFileSync(join(all, 'nowhere.json'), JSON.stringify({ ...ROUTE, country: 'XX' }))
    t.match(await ops('routes set', join(all, 'nowhere.json'), ...BECAUSE), { exitCode: 2 })
    t.match(await ops('rates set THB 99', ...BECAUSE), usageError(/5 %/))
    t.equal(cluster.settings.stored.length, 2)
  })

  t.test('a shard that has not applied it in time is named', async (t) => {
    cluster.blind.add('books_2')
    const done = await ops('rates set THB 36.60', ...BECAUSE)
    t.match(done, {
      exitCode: 1,
      out: /applied by books_1\nnot served,[^\n]* again: books_3\nNOT APPLIED YET: books_2\./,
    })
    const rates = await listed('rates', 'list')
    t.same(
      rates.map(({ rate }) => rate),
      ['36.60', '36.50', '36.60', '36.50', '26500'],
      'each that one of them has',
    )
    cluster.blind.clear()
    t.match(await ops('shard list'), { out: /books_2 [^\n]* 3  owned/ })
  })

  t.test('the rates of a file are one setting', async (t) => {
    const file = join(all, 'rates.csv')
    const imported = (baht: string, ...more: readonly string[]) => {
      writeFileSync(file, `currency,environment,rate\nTHB,,${baht}\nVND,production,26000\n`)
      return ops('rates import', file, ...more, ...BECAUSE)
    }
    t.match(await imported('99'), usageError(/5 %/))
    t.match(await imported('36.70'), printed(/version 4: applied by books_1, books_2/))
    t.match(
      await ops('rates remove THB --environment sandbox', ...BECAUSE),
      printed(/version 5: applied by books_1, books_2/),
    )
    const rates = await listed('rates', 'list')
    t.same(
      rates.map(({ environment, rate }) => [environment, rate]),
      [
        ...[
          ['production', '36.70'],
          ['sandbox', '36.00'],
        ],
        ...[
          ['production', '26000'],
          ['sandbox', '26500'],
        ],
      ],
      'in both shards',
    )
  })
})

t.test('callers are those of all shards', async (t) => {
  const shards = ['books_1', 'books_2']
  const { cluster, addresses, ops: both } = await startCluster(t, shards)
  const first = cliOf(t, [addresses[0]!, `127.0.0.1:${await freePort('127.0.0.1')}`])
  const callerIn = (shard: string, name: string) =>
    cluster.worlds.get(shard)?.memory().callers.get(name)
  const create = await both('callers create gateway edge', ...BECAUSE)
  t.match(
    create,
    printed(/^gateway edge: .*\ntoken .*\nsettings version 1: applied by books_1, books_2\n$/),
  )
  t.same(callerIn('books_2', 'edge'), callerIn('books_1', 'edge'))
  t.match(await both('callers create gateway edge', ...BECAUSE), refused(/^caller_exists/))

  const digest = (text: string): string => tokenDigest(`token of ${text}`)
  const given = { name: 'second', kind: 'gateway', roles: [], partners: [] }
  const ann = { name: 'ann', reason: 'of an earlier version' }
  const alone = createCaller(ann, createCallers([], cluster.worlds.get('books_2')!.clock), {
    ...{ ...given, tokenSha256: digest('before') },
  })
  t.ok((await cluster.worlds.get('books_2')!.run(alone)).ok)
  t.match((await both.json('callers list'))['data'], [
    { name: 'ann', shards },
    { name: 'edge', status: 'active', shards },
    { name: 'second', status: 'active', shards: ['books_2'] },
  ])
  const rotate = ['callers', 'rotate', 'second', '--token-sha256', digest('after'), ...BECAUSE]
  t.match(await both(...rotate), printed('version 2: applied by books_1, books_2'))
  t.match(await both(...rotate), refused(/^credential_in_use/))
  t.match(callerIn('books_1', 'second')?.tokens, [
    { digest: digest('before'), endsAt: Number },
    { digest: digest('after'), endsAt: null },
  ])

  const revoke = ['callers', 'revoke', 'edge', ...BECAUSE]
  t.match(
    await first(...revoke),
    printed(/^edge: revoked\nsettings version 3: applied by books_1, books_2\n$/),
  )
  for (const shard of shards) t.type(callerIn(shard, 'edge')?.revokedAt, 'number')
  t.match(await both(...revoke), refused(/revoked/))
  t.equal(cluster.settings.stored.length, 3, 'nothing is stored again')
  t.match(await both('callers revoke nobody', ...BECAUSE), refused(/No such/))
  const unsure = await first('callers revoke nobody', ...BECAUSE)
  t.match(unsure, refused(/No such[^]*Not reached: books_2\./))
  t.match(await first('callers list'), { exitCode: 1, out: /INCOMPLETE: books_2/ })
  t.match(await both.out('actions'), /ann .*rotate_caller .*second .*settings version 2/)

  await startShard(t, 'books_3', shards, cluster)
  await both('shard list')
  t.type(callerIn('books_3', 'edge')?.revokedAt, 'number', 'a new shard has them')
  t.same(callerIn('books_3', 'second')?.tokens, callerIn('books_1', 'second')?.tokens)
})

t.test('a caller that is made in recovery mode is of one shard', async (t) => {
  const { addresses, worlds } = await startCluster(t, ['books_1', 'books_2'])
  const [one, two] = worlds
  await one!.run(enterRecovery('a test'))
  const made = await cliOf(t, [addresses[0]!])('callers create gateway edge', ...BECAUSE)
  t.match(made, { exitCode: 1, out: /NOT SET IN ALL SHARDS: the processor is in recovery mode/ })
  t.ok(one!.memory().callers.has('edge'))
  t.notOk(two!.memory().callers.has('edge'))
})
