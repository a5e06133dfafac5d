/** What operators type: which command it is, and which of the options it takes. */
import t from 'tap'
import { CommandFault } from '../../src/operations/command.js'
import { readCommandLine, type Typed } from '../../src/operations/command_line.js'
import { COMMANDS } from '../../src/operations/commands.js'

const typed = (line: string): Typed => readCommandLine(line.split(' '))
const told = (line: string): string => {
  try {
    typed(line)
    return 'nothing'
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error
    return error.message
  }
}
/** With the arguments' names for arguments. */
const lineOf = (usage: string): string => usage.replaceAll(/[[\]]/g, '')

void t.test('an option of another command is refused, with the usage', async (t) => {
  for (const [line, stray, usage] of [
    ['payout held --reason r', 'reason', 'payout held [options]'],
    ['payout show pout_1 --cursor c', 'cursor', 'payout show [options] <PAYOUT>'],
    ['trial-balance --resolved', 'resolved', 'trial-balance [options] [PARTNER_ENV]'],
    ['listen --as ann', 'as', 'listen [options]'],
  ] as const) {
    const text = told(line)
    t.ok(text.startsWith(`unknown option '--${stray}'`), text)
    t.ok(text.endsWith(`\nusage: ${usage}`), text)
  }
})

void t.test('a mistyped command or option is answered with the nearest one', async (t) => {
  t.match(told('payot held'), "unknown command 'payot'\n(Did you mean payout?)\nusage: ")
  t.match(told('payout hold'), '(Did you mean held?)\nusage: payout ')
  t.match(told('webhooks dead --endpont we_1'), '(Did you mean --endpoint?)')
  t.match(told('deposit acme'), "missing required argument 'ENV'\nusage: deposit ")
  t.match(told('payout'), /^Usage: make ops ARGS="…" payout /)
})

void t.test('what a command takes reaches it', async (t) => {
  t.match(typed('webhooks redrive dlv_1 --as ann --reason r --json'), {
    command: { usage: 'webhooks redrive [DELIVERY]' },
    args: ['dlv_1'],
    flags: { as: 'ann', reason: 'r', json: true },
  })
  t.match(typed('verify GET /v1/x --header A:1 --header B:2'), {
    flags: { header: ['A:1', 'B:2'] },
  })
})

void t.test('--json and --help are taken by all', async (t) => {
  for (const { usage, about } of COMMANDS) {
    t.match(typed(`${lineOf(usage)} --json`), { command: { usage }, flags: { json: true } })
    t.match(typed(`${lineOf(usage)} --help --as x`), { help: about.slice(0, 40) }, usage)
  }
})

void t.test('a switch that is not given says nothing', async (t) => {
  t.same(typed('partner create acme'), { ...typed('partner create acme --json'), flags: {} })
  t.match(typed('partner create acme --no-funds'), { flags: { 'no-funds': true } })
})

void t.test('who and why are taken by all that change something, and by no other', async (t) => {
  const looking = COMMANDS.filter(
    ({ usage }) => told(`${lineOf(usage)} --as a --reason r`) !== 'nothing',
  )
  t.same(
    looking.map(({ usage }) => usage),
    [
      'partner list',
      'key list PARTNER ENV',
      'rates list',
      'routes list',
      'payout held',
      'payout show PAYOUT',
      'intent show INTENT',
      'outcomes unknown',
      'discrepancy list',
      'trial-balance [PARTNER_ENV]',
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
      'config show',
    ],
  )
})
