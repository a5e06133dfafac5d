/** The command line of operators: commands, options, help. */
import t from 'tap'
import { CommandFault } from '../../src/operations/cli/command.js'
import { readCommandLine, type Typed } from '../../src/operations/command_line.js'
import { COMMANDS } from '../../src/operations/commands.js'

const typed = (line: string): Typed => readCommandLine(line.split(' '))
const faultOf = (line: string): string => {
  try {
    typed(line)
    return 'nothing'
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    return error.message
  }
}
/** Argument names serve as arguments. */
const lineOf = (usage: string): string => usage.replaceAll(/[[\]]/g, '')

t.test('an option of another command is rejected with the usage', async (t) => {
  for (const [line, stray, usage] of [
    ['payout held --reason r', 'reason', 'payout held [options]'],
    ['payout show pout_1 --cursor c', 'cursor', 'payout show [options] <PAYOUT>'],
    ['trial-balance --resolved', 'resolved', 'trial-balance [options] [PARTNER_ENV]'],
    ['listen --as ann', 'as', 'listen [options]'],
  ] as const) {
    const text = faultOf(line)
    t.ok(text.startsWith(`unknown option '--${stray}'`), text)
    t.ok(text.endsWith(`\nusage: ${usage}`), text)
  }
})

t.test('an option without a value is refused: it would be none', async (t) => {
  for (const option of ['cursor', 'endpoint']) {
    t.throws(() => readCommandLine(['webhooks', 'dead', `--${option}`, '']), {
      message: `--${option} is empty.`,
    })
  }
  t.throws(() => readCommandLine(['payout', 'approve', 'pout_1', '--other-than', '']), {
    message: '--other-than is empty.',
  })
})

t.test('a mistyped command or option suggests the nearest one', async (t) => {
  t.match(faultOf('payot held'), "unknown command 'payot'\n(Did you mean payout?)\nusage: ")
  t.match(faultOf('payout hold'), '(Did you mean held?)\nusage: payout ')
  t.match(faultOf('webhooks dead --endpont we_1'), '(Did you mean --endpoint?)')
  t.match(faultOf('deposit acme'), "missing required argument 'ENV'\nusage: deposit ")
  t.match(faultOf('payout'), /^Usage: make ops ARGS="…" payout /)
})

t.test('arguments and options reach the command', async (t) => {
  t.match(typed('webhooks redrive dlv_1 --as ann --reason r --json'), {
    command: { usage: 'webhooks redrive [DELIVERY]' },
    args: ['dlv_1'],
    flags: { as: 'ann', reason: 'r', json: true },
  })
  t.match(typed('verify GET /v1/x --header A:1 --header B:2'), {
    flags: { header: ['A:1', 'B:2'] },
  })
})

t.test('an argument that was pasted with more than its characters is refused', async (t) => {
  const fault = (arg: string): string => {
    try {
      readCommandLine(['payout', 'show', arg])
      return 'nothing'
    } catch (error) {
      return error instanceof CommandFault ? error.message : String(error)
    }
  }
  const refused = (shown: string): string =>
    `'${shown}' has blanks around it or invisible characters.`
  t.equal(fault(' pout_1'), refused(' pout_1'))
  t.equal(fault('pout_1\n'), refused('pout_1\\u000a'))
  t.equal(fault('pout_1\u00a0'), refused('pout_1\u00a0'))
  t.equal(fault('pout\u200b_1'), refused('pout\\u200b_1'))
  t.equal(fault(''), 'An argument is empty.')
  t.equal(fault('pout_1'), 'nothing')
})

t.test('a period ends with --until, or with its former name', async (t) => {
  const period = 'journal --from 2026-11-23'
  t.same(typed(`${period} --to 2026-11-25`), typed(`${period} --until 2026-11-25`))
  t.match(typed(`${period} --to 2026-11-24 --until 2026-11-25`), {
    flags: { from: '2026-11-23', until: '2026-11-25' },
  })
  t.match(typed('shard move books_2 --to p3'), { flags: { to: 'p3' } })
  t.match(faultOf('shard move books_2 --until p3'), "unknown option '--until'")
})

t.test('every command accepts --json and --help', async (t) => {
  for (const { usage, about } of COMMANDS) {
    t.match(typed(`${lineOf(usage)} --json`), { command: { usage }, flags: { json: true } })
    t.match(typed(`${lineOf(usage)} --help --as x`), { help: about.slice(0, 40) }, usage)
  }
})

t.test('every line of the help says what its command is for', async (t) => {
  const { help } = readCommandLine(['--help']) as { readonly help: string }
  const [, list = ''] = help.split('Commands:\n')
  const lines = list.split('\n\n')[0]?.split('\n') ?? []
  t.ok(lines.length > 25)
  t.same(
    lines.filter((line) => /^ {2}\S+$/.test(line)),
    [],
  )
})

t.test('an absent switch has no value', async (t) => {
  t.same(typed('partner create acme'), { ...typed('partner create acme --json'), flags: {} })
  t.match(typed('partner create acme --no-funds'), { flags: { 'no-funds': true } })
})

t.test('exactly the commands that change data take --as and --reason', async (t) => {
  const readOnly = COMMANDS.filter(
    ({ usage }) => faultOf(`${lineOf(usage)} --as a --reason r`) !== 'nothing',
  )
  t.same(
    readOnly.map(({ usage }) => usage),
    [
      'find ID',
      'partner list',
      'partner usage PARTNER ENV',
      'partner erasures',
      'key list PARTNER ENV',
      'callers list',
      'callers self',
      'callers token KIND',
      'approvals list',
      'rates list',
      'routes list',
      'submissions list',
      'payout held',
      'payout show PAYOUT',
      'payee show PAYMENT',
      'intent held',
      'intent show INTENT',
      'outcomes unknown',
      'discrepancy list',
      'trial-balance [PARTNER_ENV]',
      'balances [PARTNER_ENV]',
      'recovery show',
      'recovery orphans',
      'actions',
      'master-key list',
      'webhooks status',
      'webhooks endpoints',
      'webhooks dead',
      'webhooks poison',
      'listen',
      'sign METHOD PATH',
      'verify METHOD PATH',
      'system show',
      'config show',
      'production check',
      'doctor',
      'backup DIR',
      'restore DIR',
      'store copy',
      'shard list',
    ],
  )
})
