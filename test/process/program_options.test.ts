/** Programs reject invalid options before they start, and print their help. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

function run(program: string, ...args: string[]) {
  const main = join(projectRoot(), '.build', program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args])
  return { status, out: stdout.toString(), err: stderr.toString() }
}

for (const [program, flag] of [
  ['test/simulation/main.js', 'seed'],
  ['test/simulation/main.js', 'steps'],
  ['test/crash/chaos.js', 'duration'],
  ['test/fuzz/gateway.js', 'seconds'],
  ['test/powercut/main.js', 'images'],
] as const) {
  const { status, out, err } = run(program, `--${flag}`, 'x')
  t.equal(status, 2, `${program} --${flag}`)
  t.equal(out, '', 'nothing was started')
  t.match(err, /error: option '.*' argument 'x' is invalid\. It is not a number\./)
}

const help = run('src/audit/main.js', '--help')
t.equal(help.status, 0)
t.match(help.out, /^Usage: audit \[options\]\n\nChecks the databases/)
t.match(
  run('src/audit/main.js', '--jsno').err,
  "error: unknown option '--jsno'\n(Did you mean --json?)",
)
