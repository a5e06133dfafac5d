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

void t.test('an option of another command is refused, with what is right', async (t) => {
  for (const [line, stray, usage] of [
    ['payout held --reason r', 'reason', 'payout held [--cursor] [--json]'],
    ['payout show pout_1 --cursor c', 'cursor', 'payout show PAYOUT [--json]'],
    [
      'payout approve pout_1 --reason r --evidence e',
      'evidence',
      'payout approve PAYOUT [--as] [--reason] [--json]',
    ],
    ['trial-balance --resolved --json', 'resolved', 'trial-balance [PARTNER_ENV] [--json]'],
    ['--header X:1 sign GET /v1/x', 'header', 'sign METHOD PATH [--body] [--json]'],
    ['listen --as ann', 'as', 'listen [--port] [--forward-to] [--json]'],
  ] as const) {
    t.equal(told(line), `This command takes no --${stray}.\nusage: ${usage}`, line)
  }
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
  for (const { usage } of COMMANDS) {
    t.match(typed(`${lineOf(usage)} --json`), { command: { usage }, flags: { json: true } })
    const asked = typed(`${lineOf(usage)} --help --reason r`)
    t.match(asked, { help: `  ${usage}  ` }, 'help is given whatever else was typed')
  }
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
      'unknown list',
      'discrepancy list',
      'trial-balance [PARTNER_ENV]',
      'actions',
      'master-key list',
      'webhooks status',
      'webhooks endpoints',
      'webhooks dead',
      'webhooks poison',
      'listen',
      'sign METHOD PATH',
      'verify METHOD PATH',
    ],
  )
})

void t.test('the options that a command’s help names are those it takes', async (t) => {
  const named = COMMANDS.map(({ usage, about, options = [] }) => {
    const own = options.filter((option) => !['as', 'reason'].includes(option))
    const inHelp = [...about.matchAll(/--([a-z-]+)/g)].map(([, option]) => option)
    return { usage, own: own.sort(), inHelp: inHelp.filter((option) => option !== 'json').sort() }
  })
  for (const { usage, own, inHelp } of named) t.same(inHelp, own, usage)
})
