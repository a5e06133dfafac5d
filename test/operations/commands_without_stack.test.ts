/** The operator CLI and the demo without a running stack. */
import t from 'tap'
import { operatorCli, usageError } from '../support/operator_cli.js'
import { startProgram, type CliResult } from '../support/program.js'
import { tempFolder } from '../support/temp_folder.js'

t.setTimeout(0)

t.test('commands without a running stack', async (t) => {
  const dataDir = tempFolder(t)
  const start = (program: string, args: readonly string[], settings = {}): Promise<CliResult> =>
    startProgram(`operations/${program}`, args, { ...settings, DATA_DIR: dataDir }).ended

  await t.test('commands report it', async (t) => {
    const { exitCode, err } = await start('main.js', ['trial-balance'])
    t.equal(exitCode, 2)
    t.match(err, `No stack has run with DATA_DIR=${dataDir}`)
  })
  await t.test('config show prints the effective settings without secrets', async (t) => {
    const NATS_URL = 'nats://user:hidden@127.0.0.1:4222'
    const { exitCode, out } = await start('main.js', ['config', 'show'], { NATS_URL })
    t.equal(exitCode, 0)
    t.match(out, new RegExp(`DATA_DIR +${dataDir} +environment`))
    t.match(out, /QUOTE_TTL_S +300 +default/)
    t.match(out, /NATS_URL +nats:\/\/…@127\.0\.0\.1:4222 +environment/)
    t.notMatch(out, 'hidden')
  })
  await t.test('--help works for the CLI, a group and a command', async (t) => {
    for (const [words, first] of [
      [['--help'], 'Usage: make ops ARGS="…" COMMAND'],
      [['help'], 'Usage: make ops ARGS="…" COMMAND'],
      [['payout', '-h'], 'Usage: make ops ARGS="…" payout [options] [command]'],
      [['help', 'payout'], 'Usage: make ops ARGS="…" payout [options] [command]'],
      [
        ['deposit', 'acme', '--help'],
        'Usage: make ops ARGS="…" deposit [options] [command] <PARTNER>',
      ],
    ] as const) {
      const { exitCode, out, err } = await operatorCli(dataDir)(...words)
      t.strictSame({ exitCode, err }, { exitCode: 0, err: '' }, words.join(' '))
      t.match(out, first)
    }
    t.match(
      await operatorCli(dataDir)('payout hold'),
      usageError("unknown command 'hold'\n(Did you mean held?)"),
    )
  })
  await t.test('the demo starts its own stack', async (t) => {
    const { exitCode, out, err } = await start('demo/demo.js', [])
    t.equal(exitCode, 0, err)
    t.match(out, 'the demo starts its own')
    t.match(out, 'The demo passed.')
  })
})
