/** The operator CLI and the demo against a running stack. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SignedRequest } from '../../src/client/index.js'
import { eventually } from '../support/eventually.js'
import { operatorCli, printed, refused, usageError } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'
import { partnerOf, withKey } from '../support/partner.js'
import { sendOnce } from '../support/raw_requests.js'
import { startProgram, type CliResult } from '../support/program.js'
import { startStack } from '../support/stack.js'

const start = (program: string, DATA_DIR: string, args: readonly string[], settings = {}) =>
  startProgram(`operations/${program}`, args, { ...settings, DATA_DIR })

const A_PAYOUT = {
  amount: '1250000',
  currency: 'VND',
  beneficiary: {
    type: 'bank_account',
    name: 'Nguyen Thi Lan',
    destination_country: 'VN',
    currency: 'VND',
    account_number: '0071001234567',
    bank_code: '970436',
  },
}

const BECAUSE = ['--reason', 'maintenance']

const run = (program: string, dataDir: string, args: readonly string[]): Promise<CliResult> =>
  start(program, dataDir, args).ended

t.setTimeout(0)

t.test('commands work against a running stack', async (t) => {
  const stack = await startStack({ t, dataDir: tempFolder(t) })
  const { ops } = stack

  await t.test('a new partner can sign with the issued key', async (t) => {
    const created = await ops.json('partner create acme --corridors th_promptpay,vn_vietqr')
    const key = created['sandbox_key'] as { key_id: string; secret: string }
    t.match(key, { key_id: /^acme_sandbox_\d{4}q[1-4]$/, secret: /^sk_/ })
    const acme = partnerOf(stack.sandbox, { keyId: key.key_id, secret: key.secret })
    const balances = await eventually('the gateway has the key', async () => {
      const answer = await acme.request('GET', '/v1/balances')
      return answer.status === 200 && answer
    })
    t.strictSame((balances.body as { data: unknown }).data, [
      { currency: 'THB', available: '1000000000', reserved: '0' },
      { currency: 'USD', available: '1000000000', reserved: '0' },
      { currency: 'VND', available: '1000000000', reserved: '0' },
    ])

    const next = await ops.json('key issue acme sandbox')
    t.not(next['key_id'], key.key_id)
  })

  await t.test('without test funds', async (t) => {
    await ops.json('partner create frugal --corridors none --no-funds')
    const report = await ops.json('trial-balance frugal_sandbox')
    t.strictSame(report, { lines: [], balanced: true })
  })

  await t.test('the same deposit is credited once', async (t) => {
    const words = ['deposit', 'acme', 'sandbox', 'USD', '1,000.50', '--idempotency-key', 'dep-1']
    const first = await ops.json(...words)
    t.equal(first['available'], '1000100050')
    t.strictSame(await ops.json(...words), first)
    t.equal((await ops(...words)).err, '')
    const { out } = await ops('trial-balance acme_sandbox')
    t.match(out, 'USD 10,001,000.50')
    t.match(out, 'sum  USD 0.00')
    t.match(out, 'The books balance.')
  })

  await t.test('a deposit is corrected, and money is paid back', async (t) => {
    const given = ['--reason', 'typing error', '--evidence', 'line 4']
    const made = await ops.json('deposit acme sandbox EUR 1000')
    const id = String(made['deposit_id'])
    const correct = ['deposit', 'correct', 'acme', 'sandbox', id, 'EUR']
    const keyed = [...correct, '900', ...given, '--idempotency-key', 'c-1']
    t.match(
      await ops(...keyed),
      printed(
        `${id}: EUR 900.00 taken back from acme, EUR 900.00 of it in all, EUR 100.00 available`,
      ),
    )
    t.match(await ops.json(...keyed), { corrected: '90000', available: '10000' })
    t.match(await ops(...correct, '100.01', ...given), refused(/^correction_exceeds_deposit/m))
    const withdraw = ['withdraw', 'acme', 'sandbox', 'EUR']
    t.match(
      await ops(...withdraw, '60', ...given),
      printed(/^wdr_\S+: EUR 60\.00 withdrawn from acme, EUR 40\.00 available/),
    )
    t.match(await ops(...withdraw, '40.01', ...given), { err: /^insufficient_balance/m })
    t.match(await ops(...withdraw, '1', '--reason', 'r'), usageError(/--evidence/))
    t.match(await ops(...withdraw, '1', '--evidence', 'e'), usageError(/--reason/))
    t.match(await ops.out('find', id), /deposit/)
    const once = [...withdraw, '10', ...given, '--idempotency-key', 'w-1']
    const first = await ops.json(...once)
    t.match(first, { available: '3000' })
    t.strictSame(await ops.json(...once), first, 'a repeated withdrawal is the first one')
  })

  await t.test('rates', async (t) => {
    const set = await ops.json('rates set THB 35.50')
    t.strictSame(set, { currency: 'THB', rate: '35.50', before: '36.00' })
    const wrong = await ops('rates set THB 3.550')
    t.match(wrong, usageError(/1 USD = 35\.50 THB now, 3\.550 THB after.*--force/))
    t.match(await ops('rates set USD 1.00'), usageError(/One US dollar/))
    t.match(await ops('rates set THB 37.28'), usageError(/--force/))
    const forced = await ops('rates set THB 37.28 --force')
    t.match(forced, printed('1 USD = 37.28 THB from now on, 35.50 before'))
    t.match(await ops('rates set THB 35.50'), { exitCode: 0 }, 'a change of 4.8 %')
    t.match(await ops('rates set THB 0'), usageError(/0 is not a rate/))
    const { data } = await ops.json('rates list')
    const baht = (data as { currency: string }[]).find(({ currency }) => currency === 'THB')
    t.match(baht, { rate: '35.50', set_at: /Z$/, is_too_old: false })
    t.match(
      await ops.out('rates list'),
      /^THB +sandbox +35\.50 {2}since \d{4}-\S+Z by \S+, 37\.28 before$/m,
    )
    const one = [...['rates', 'set', 'THB', '35.60'], '--environment', 'production']
    t.match(await ops(...one), printed('1 USD = 35.60 THB in production from now on, 35.50 before'))
    t.match(await ops.out('rates list'), /^THB +production +35\.60 [^]*^THB +sandbox +35\.50 /m)
    const file = join(tempFolder(t), 'rates.csv')
    const imported = (...lines: readonly string[]) => {
      writeFileSync(file, `${['currency,environment,rate', ...lines].join('\n')}\n`)
      return ops('rates import', file)
    }
    t.match(
      await imported('THB,moon,36', 'USD,,1', 'VND,,x'),
      usageError(
        /line 2: moon is not an env[^]*line 3: USD is not a cur[^]*line 4: x is not a rate/,
      ),
    )
    t.match(await imported('THB,,35.70', 'VND,,2600'), usageError(/--force/))
    t.match(
      await imported('THB,,35.70', 'VND,sandbox,26000'),
      printed(/^THB +both +35\.70 +35\.60 and 35\.50 before\nVND +sandbox +26000 +26500 before$/m),
    )
    t.match(await imported('VND,sandbox,2600'), usageError(/--force/))
    t.match(await ops('rates import', file, '--force'), printed(/2600 +26000 before/))
    writeFileSync(file, '\uFEFFcurrency,environment,rate\r\nVND,sandbox,2600\r\n')
    const spreadsheet = await ops('rates import', file)
    t.match(spreadsheet, { exitCode: 0, err: '' }, 'a spreadsheet writes a byte order mark')
    t.match(await ops('rates set VND 26500 --force'), { exitCode: 0 })
    t.match(
      await ops('rates remove THB --environment production'),
      printed('THB: removed, 35.70 before'),
    )
    t.match(
      await ops('rates remove THB --environment production'),
      usageError(/No rate of THB is set there/),
    )
    t.notMatch(await ops.out('rates list'), /production +35/)
    t.match(await ops(...one.slice(0, 5), 'moon'), usageError(/moon is not an environment/))
  })

  await t.test('a listed route can be set again', async (t) => {
    const { data } = await ops.json('routes list')
    const vietnam = (data as Record<string, unknown>[]).find(({ country }) => country === 'VN')
    const file = join(tempFolder(t), 'route.json')
    const changed = { ...vietnam, rail_fixed: '7000', amount_max: '9000000000' }
    writeFileSync(file, JSON.stringify(changed))
    t.match(await ops.out('routes list'), /^built in, sandbox only +VN VND /m)
    t.strictSame(await ops.json('routes set', file), changed, 'the same members')
    const listed = await ops.out('routes list')
    t.match(listed, /^all +VN VND .*rail VND 7,000/m)
    t.match(listed, /^built in, sandbox only +TH THB /m)

    for (const [given, fault] of [
      [{ ...changed, handling: null }, /^\S+route.json: handling is missing\.\n$/],
      [
        { ...changed, tenant: { partner_id: 'nobody', environment: 'sandbox' } },
        /^There is no partner nobody/,
      ],
    ] as const) {
      writeFileSync(file, JSON.stringify(given))
      t.match(await ops('routes set', file), { exitCode: 2, out: '', err: fault })
    }
  })

  await t.test('a route gets a rail, whose submissions are paused and resumed', async (t) => {
    const route = 'sandbox/th_promptpay'
    t.match(
      await ops('routes set', route, '--rail', 'sandbox', '--reason', 'r'),
      printed(`${route}: new payments go to sandbox`),
    )
    for (const [scope, name] of [
      ['--rail', 'sandbox'],
      ['--corridor', 'VN/VND'],
      ['--environment', 'production'],
    ] as const) {
      const subject = `${scope.slice(2)} ${name}`
      const [pause, resume] = ['submissions pause', 'submissions resume']
      const paused = await ops(...pause.split(' '), scope, name, ...BECAUSE)
      t.match(paused, printed(`${subject}: paused`), paused.err)
      t.match(await ops.out('submissions list'), new RegExp(`^${subject} .* maintenance$`, 'm'))
      const resumed = await ops(...resume.split(' '), scope, name, ...BECAUSE)
      t.match(resumed, printed(`${subject}: submitted again`))
    }
    t.match(await ops.out('submissions list'), 'No submissions are paused.')
    const two = ['--rail', 'sandbox', '--environment', 'sandbox', '--reason', 'r']
    t.match(await ops('submissions pause', ...two), usageError(/^Name one of --rail/))
  })

  await t.test('held payouts are listed, approved and rejected', async (t) => {
    const demo = stack.partner
    const metadata = { _x: 'x', x: 'y', _payout: 'payout' }
    const held = async (): Promise<string> => {
      const { status, body } = await demo.request(
        'POST',
        '/v1/payouts',
        { ...A_PAYOUT, reference: 'sandbox:review', metadata },
        withKey(randomUUID()),
      )
      t.equal(status, 202)
      return (body as { id: string }).id
    }
    const [good, bad] = [await held(), await held()]
    const { out } = await ops('payout held')
    t.match(out, good)
    t.match(out, `${bad}  demo_sandbox  VND 1,250,000  until `)

    t.match((await ops('payout approve', good)).err, 'A decision needs --reason TEXT.')
    const approved = await ops.json('payout approve', good, '--reason', 'known supplier')
    t.equal(approved['status'], 'processing')
    t.same(approved['metadata'], metadata)
    const rejected = await ops.json('payout reject', bad, '--reason', 'not known')
    t.equal(rejected['status'], 'failed')
    t.match(await ops.out('payout held'), 'No payouts are held.')

    await eventually('the payout is completed', async () => {
      const { body } = await demo.request('GET', `/v1/payouts/${good}`)
      return (body as { status: string }).status === 'completed'
    })
    const { out: shown } = await ops('payout show', good)
    t.match(shown, `${good}: completed\n  tenant          demo_sandbox\n`)
    t.match(shown, /^ {2}fee +VND 14,500 \(service VND 7,500, rail VND 7,000\)$/m)
    t.match(shown, /^ {2}total +VND 1,264,500$/m)
    t.match(shown, /^ {2}beneficiary +ben_\w+ Nguyen Thi Lan \*\*\*\*4567$/m)
    t.match(shown, /^ {2}submitted +\S+Z\n {2}inquiries +\d\n {2}transaction +\S+$/m)
    t.match(shown, /Z +event +payout\.completed evt_\w+, sequence \d+, (open|settled at \S+Z)$/m)
    t.match(shown, /Z +action +approve_payout by \S+: known supplier$/m)
    t.notMatch(shown, A_PAYOUT.beneficiary.account_number)
    t.match(await ops.out('payout show', bad), /^ {2}failure +review_rejected \(review\): /m)
    const record = await ops.json('payout show', good)
    t.match(record, { tenant: 'demo_sandbox', payout: { id: good, status: 'completed', metadata } })
    t.notOk(Object.keys(record).some((name) => name.startsWith('_')))
    t.match(await ops('payout show pout_nobody'), refused(/^payout_not_found/))

    const reverse = ['payout', 'reverse', good, '--reason', 'came back']
    t.match((await ops(...reverse)).err, 'This needs --evidence TEXT.')
    const reversed = await ops.json(...reverse, '--evidence', 'statement line 7')
    t.equal(reversed['status'], 'reversed')
  })

  await t.test('an outcome that the bank does not tell is inquired and resolved', async (t) => {
    const beneficiary = { ...A_PAYOUT.beneficiary, account_number: '9990000008' }
    const paid = await stack.partner.request(
      'POST',
      '/v1/payouts',
      { ...A_PAYOUT, beneficiary, reference: 'no answer' },
      withKey(randomUUID()),
    )
    t.equal(paid.status, 202, paid.text)
    const { id } = paid.body as { id: string }
    t.match(await ops('payee show', id), printed('account ending 0008'))
    t.match(await ops('outcomes inquire', id), printed(id))
    const evidence = ['--reason', 'bank confirmed', '--evidence', 'statement line 8']
    const resolved = await ops.json('payout resolve', id, 'completed', ...evidence)
    t.equal(resolved['status'], 'completed')
  })

  await t.test('an operator sees its own name and roles', async (t) => {
    t.match(await ops('callers self'), printed('decide'))
  })

  await t.test('discrepancies are listed, and a balance alert is set', async (t) => {
    t.match(await ops.out('discrepancy list'), 'There are no discrepancies.')
    const resolve = ['discrepancy', 'resolve', 'dis_nobody', 'keep', '--reason', 'r']
    t.match(await ops(...resolve), usageError('This needs --evidence TEXT.'))
    t.match(await ops(...resolve, '--evidence', 'line 9'), refused(/_not_found/))
    const alert = await ops.json('balance-alert acme sandbox USD 500')
    t.strictSame(alert, { currency: 'USD', threshold: '50000' })
  })

  await t.test('lists take a cursor', async (t) => {
    for (const words of [
      ...[['payout', 'held'], ['intent', 'held'], ['outcomes', 'unknown'], ['actions']],
      ...[
        ['discrepancy', 'list'],
        ['recovery', 'orphans'],
        ['webhooks', 'dead'],
      ],
    ]) {
      const { exitCode, err } = await ops(...words, '--cursor', 'x')
      t.match({ exitCode, err }, refused(/^invalid_request: /), words.join(' '))
    }
    t.match(await ops.out('recovery orphans --resolved'), 'There are no orphan')
  })

  await t.test('a release names a statement, and needs recovery mode', async (t) => {
    const file = join(tempFolder(t), 'statement.csv')
    writeFileSync(file, '')
    const release = ['recovery', 'release', '--statement', file, '--incomplete', '--yes']
    t.match(await ops(...release, '--reason', 'r'), { exitCode: 2, out: '', err: /recovery/ })
  })

  await t.test('what a partner has used is counted for some days', async (t) => {
    const usage = ['partner', 'usage', 'demo', 'sandbox']
    t.match(await ops(...usage, '--days', '1'), printed(/^since [^]*payout +completed/))
    t.match(await ops(...usage, '--days', '367'), { exitCode: 1 })
    t.match(await ops(...usage, '--days', 'x'), usageError('x is not a number of days.'))
  })

  await t.test('payments of half a year ago and earlier move to an archive', async (t) => {
    const folder = join(tempFolder(t), 'archive')
    const file = join(folder, 'payments.db')
    const archive = ['archive', file, '--before', '2020-01-01']
    t.match(await ops(...archive), refused(`There is no folder ${folder}`))
    mkdirSync(folder, { mode: 0o700 })
    t.match(await ops(...archive), usageError('A decision needs --reason TEXT.'))
    t.match(await ops(...archive, '--reason', 'r'), printed(`0 payments moved to ${file}; 0 stay`))
    t.equal(statSync(file).mode & 0o777, 0o600)
    const young = [...archive.slice(0, -1), new Date().toISOString(), '--reason', 'r']
    t.match(await ops(...young), refused(/^invalid_request/))
    t.match(await ops('archive', file, '--reason', 'r'), usageError(/--before DAY/))
  })

  await t.test('a service gets a token in a file, for some of the partners', async (t) => {
    const file = join(tempFolder(t), 'billing.token')
    const create = ['callers', 'create', 'service', 'billing', '--partners', 'acme,frugal']
    const made = await ops(...create, '--token-file', file, '--reason', 'invoices')
    t.match(made, printed(`service billing: no operator role\ntoken in ${file}`))
    t.notMatch(made.out, readFileSync(file, 'utf8').trim())
    t.match(await ops.out('callers list'), /^billing +service .*acme[, ]+frugal/m)

    const nowhere = ['--token-file', join(tempFolder(t), 'none', 'a.token'), '--reason', 'invoices']
    const rotated = await ops('callers rotate billing', ...nowhere)
    t.match(rotated, {
      exitCode: 1,
      out: /^token {2}(\S{32,}) {3}\(shown only once\)$[^]*^NOT WRITTEN to .*a\.token: ENOENT/m,
    })
  })

  await t.test('the program prints its report or error and sets the exit code', async (t) => {
    const program = (...words: string[]) => run('main.js', stack.dataDir, words)
    const balanced = await program('trial-balance', 'demo_sandbox')
    t.match(balanced, { exitCode: 0, out: /The books balance\.\n$/, err: '' })
    const refused = await program('intent', 'show', 'pi_nobody')
    t.match(refused, { exitCode: 1, out: '', err: /^payment_intent_not_found/ })
  })

  await t.test('a refusal is printed with its code, exit code 1', async (t) => {
    t.match(await ops('intent show pi_nobody'), refused('payment_intent_not_found'))
    const redrive = await ops('webhooks redrive dlv_unknown --reason repaired')
    t.match(redrive, refused('There is no delivery dlv_unknown.'))
    const since = ['--since', '2026-09-31T00:00:00Z', '--reason', 'r']
    t.match(await ops('webhooks redrive', ...since), usageError('is not a time'))
  })

  await t.test(
    'the running stack determines production, not the environment of the CLI',
    async (t) => {
      const dataDir = tempFolder(t)
      const file = readFileSync(join(stack.dataDir, 'sandbox.json'), 'utf8')
      const production = { ...(JSON.parse(file) as object), serves_production: true, brand: 'Acme' }
      writeFileSync(join(dataDir, 'sandbox.json'), JSON.stringify(production), { mode: 0o600 })
      const there = operatorCli(dataDir)
      const suspend = await there('partner suspend acme')
      t.match(suspend, usageError('needs --reason TEXT'))
      t.match(await there.out('sign GET /v1/x'), 'X-Acme-Nonce: ')
      const listen = await there('listen')
      t.match(listen, usageError('delivers no webhooks to this machine'))
      const demo = await start('demo/demo.js', dataDir, [], { PRODUCTION_HOSTS: 'api.example' })
        .ended
      t.equal(demo.exitCode, 0, demo.err)
      t.match(demo.out, 'The running stack serves production, so the demo starts its own')
    },
  )

  await t.test('a usage error is reported, exit code 2', async (t) => {
    for (const [words, fault] of [
      [
        ['deposit', 'acme', 'sandbox', 'USD', '1.234'],
        '1.234 is not an amount of USD: write e.g. 1000.50 or 1,000.50.',
      ],
      [['deposit', 'acme', 'sandbox', 'XYZ', '1'], 'XYZ is not a currency'],
      [
        ['deposit', 'acme', 'test', 'USD', '1'],
        'test is not an environment: sandbox or production',
      ],
      [['deposit', 'acme', 'sandbox'], 'usage: deposit [options] [command] <PARTNER> <ENV>'],
      [['deposit', 'acme', 'production', 'USD', '1'], 'needs --reason TEXT'],
      [['trial-balance', 'acme'], 'acme is not a tenant'],
      [['listen', '--port', '70000'], '--port 70000 is not a port'],
      [['no', 'such'], "unknown command 'no'"],
      [['payout', 'held', '--reason', 'r'], "unknown option '--reason'"],
      [['--no-such'], "unknown option '--no-such'"],
      [['sign', 'GET', '/v1/x', '--body', 'no_such.json'], 'no_such.json'],
    ] as const) {
      t.match(await ops(...words), usageError(fault), words.join(' '))
    }
  })

  await t.test('an option value that the processor refuses is named with its rule', async (t) => {
    const tooLong = 'x'.repeat(2_001)
    for (const [line, fault] of [
      ['partner usage acme sandbox --days 0', 'days must be 1 to 366.'],
      ['partner usage acme sandbox --days 367', 'days must be 1 to 366.'],
      ['payout held --cursor page-2', 'cursor must be the next_cursor of the same list'],
      [`find ${tooLong}`, 'text must have 1 to 256 characters.'],
      ['key issue acme sandbox --public-key package.json', 'public_key must be an RSA public key'],
      ['callers create king ann', 'kind must be one of operator, service, gateway'],
      ['callers create service ann!', 'name must be 1 to 64 letters, digits'],
      ['callers create operator ann', 'roles must be one or more of read, operate, decide.'],
      ['callers create gateway ann --roles read', 'roles are for an operator only.'],
      ['callers create gateway ann --partners acme', 'partners are for a service only.'],
      ['callers create gateway ann --token-sha256 ab', 'token_sha256 must be 64 lower-case'],
      ['submissions pause --rail no_such', 'subject must be a rail of RAILS_FILE, a corridor'],
      [`withdraw acme sandbox USD 1 --evidence ${tooLong}`, 'evidence must have 1 to 2000'],
      [
        `archive ${join(tempFolder(t), 'a')} --before 2999-01-01`,
        'before must be 180 days ago or earlier.',
      ],
    ] as const) {
      const isChange = /^(key|callers|submissions|withdraw|archive)/.test(line)
      const { err } = await ops(...line.split(' '), ...(isChange ? ['--reason', 'r'] : []))
      t.match(err, `invalid_request: The request is not valid. ${fault}`, line.slice(0, 60))
    }
  })

  await t.test('operators on another machine need an address and a token file', async (t) => {
    const tokenFile = join(stack.dataDir, 'operator.token')
    const elsewhere = operatorCli(tempFolder(t), tokenFile, {
      PROCESSOR_ADDRESS: stack.sandbox.grpc_address,
    })
    t.match(await elsewhere.json('partner list'), { data: Array })
    const unexplained = await elsewhere('partner rate-limit demo 0')
    t.match(unexplained.err, '--reason', 'the stack may serve production')
    t.match((await elsewhere('sign GET /v1/balances')).err, 'needs the sandbox.json')
    const lost = await operatorCli(tempFolder(t))('partner list')
    t.match(lost.err, 'On another machine set PROCESSOR_ADDRESS and OPERATOR_TOKEN_FILE.')
    t.same([unexplained.exitCode, lost.exitCode], [2, 2])
  })

  await t.test('sign shows headers that the service accepts', async (t) => {
    const shown = await ops.json('sign GET /v1/balances')
    const { canonical, headers } = shown as unknown as SignedRequest
    const [method, path, timestamp, nonce, hash, end] = canonical.split('\n')
    t.strictSame([method, path, hash, end], ['GET', '/v1/balances', '', ''])
    t.match(headers, { 'X-Service-Timestamp': timestamp, 'X-Service-Nonce': nonce })
    const request = { method: 'GET', path: '/v1/balances', headers: Object.entries(headers) }
    const answer = await sendOnce(stack.baseUrl, request)
    t.equal(answer.status, 200)
    t.match(await ops.out("sign GET /v1/users/o'hara"), `${String.raw`/o'\''hara'`} \\\n`)
  })

  await t.test('listen prints deliveries until it is stopped', async (t) => {
    const { child, output, ended } = start('main.js', stack.dataDir, ['listen'])
    t.teardown(() => child.kill('SIGKILL'))
    await eventually('listen is ready', () => output.err.includes('listening at'))
    const { exitCode } = await run('demo/demo.js', stack.dataDir, [])
    t.equal(exitCode, 0)
    await eventually('the payout event is printed', () =>
      /payout\.completed .* valid/.test(output.out),
    )
    child.kill('SIGINT')
    const { exitCode: ending, out } = await ended
    t.equal(ending, 0)
    t.match(out, /^\d+ events$/m)
  })

  await t.test('the demo can be repeated', async (t) => {
    const { exitCode, out, err } = await run('demo/demo.js', stack.dataDir, [])
    t.equal(exitCode, 0, err)
    t.match(out, `On ${stack.baseUrl}, as partner demo`)
    t.match(out, /payment_intent\.captured +evt_/)
    t.match(out, /✓ all \d+ signatures are valid/)
    t.match(out, 'The demo passed.')
    t.notMatch(out, '\u001b', 'no colors without a terminal')
  })
})
