/** The commands of the guide's pages about backups, as an operator types them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { startProgram, type CliResult } from '../support/program.js'
import { guidePage } from '../support/operators_guide.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { operatorProgram } from './drill.js'

t.setTimeout(0)

const commandsOf = (title: string): readonly string[] =>
  [...guidePage(title).text.matchAll(/^(?:DATA_DIR=\S+ )?make ops ARGS="([^"]+)"/gm)].map(
    ([, words = '']) => words,
  )
const COMMANDS = [...commandsOf('Backup'), ...commandsOf('Restore a backup')]

t.test('the commands of the guide', async (t) => {
  const folder = tempFolder(t)
  const backups = join(folder, 'backups')
  const apart = join(folder, 'backups apart')
  const stack = await startStack({ t, dataDir: join(folder, 'data') })
  const wordsOf = (command: string): readonly string[] => {
    const newest = readdirSync(backups, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
      .at(-1)
    return command
      .replace('/backups', backups)
      .replace('2026-…', newest ?? '')
      .split(' ')
  }
  const [once = '', again = '', withKeys = '', restore = '', ...others] = COMMANDS
  t.same(others, [], 'all of them are tried here')
  t.equal(
    (await stack.metrics()).includes('causeway_backup_age_seconds{process="processor"} +Inf'),
    true,
  )

  const made = await operatorProgram(stack.dataDir, ...once.replace('/backups', backups).split(' '))
  t.match(made.out, /^backup \S+: 3 files, [\d.]+ MB, epoch 1, batch \d+, as of 20\S+Z\n/)
  t.match(made.out, /\naudit clean: \d+ checks/)
  t.match(made.out, /\nWithout keys: keep master\.key, rail\.key and the tokens elsewhere\.\n/)
  t.match(await stack.metrics(), /causeway_backup_age_seconds\{process="processor"\} [\d.]+\n/)
  const { out: actions } = await operatorProgram(stack.dataDir, 'actions')
  t.match(actions, /backup +20\S+Z .*epoch 1, batch \d+, manifest sha256 \w{64}, audit clean/)

  const service = startProgram('operations/main.js', wordsOf(again), { DATA_DIR: stack.dataDir })
  await eventually('the first backup', () => service.output.out.includes('MB, epoch 1'), 60_000)
  const taken = await startProgram('operations/main.js', wordsOf(once), {
    DATA_DIR: stack.dataDir,
  }).ended
  t.match(taken, { exitCode: 1, err: /in use by another process/ }, 'one at a time')
  service.child.kill('SIGTERM')
  t.match(await service.ended, { exitCode: 0, out: /\nstopped; 2 backups in / })

  const secret = await operatorProgram(stack.dataDir, ...wordsOf(withKeys))
  t.match(secret.out, /: 7 files, .*\n.*\n.*\nIt has the keys: who reads it reads every secret\.\n/)
  const { out: lines } = await operatorProgram(stack.dataDir, 'backup', apart)
  t.match(lines, /\nrestore: DATA_DIR=NEW make ops ARGS="restore '\/.+ apart\/20\S+'"\n$/)
  const target = join(folder, 'a target')
  const restored = await operatorProgram(target, ...wordsOf(restore))
  t.match(restored.out, /^Restored 7 files into .+, as of 20\S+Z\.\n/)
  t.match(restored.out, new RegExp(`\n  DATA_DIR='${target}' make run\n`))
  const refused: CliResult = await startProgram('operations/main.js', wordsOf(restore), {
    DATA_DIR: target,
  }).ended
  t.match(refused, { exitCode: 1, err: /^Not restored: DATA_DIR=.+ is not empty \(\S+\): name / })
})
