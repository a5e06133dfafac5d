/**
 * The programs of make for the trial cluster: `cluster-chaos` with one fault, and `upgrade-drill
 * CLUSTER=yes`, which replaces every process of what `make cluster` starts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { requirePostgres } from '../support/postgres_server.js'

requirePostgres(t)

/** @param program from `.build` on */
async function run(program: string, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [join(projectRoot(), '.build', program), ...flags], {
    env: { ...process.env, STORE: 'postgres' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill())
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, out }
}

t.test('a fault in the trial cluster loses nothing', async (t) => {
  const { exitCode, out } = await run('test/cluster/main.js', '--faults=kill-owner', '--times=1')
  t.equal(exitCode, 0, out)
  t.match(out, /^ +1 +[\d.]+ s, +[\d.]+ s +\d+ {2}kill -9 of an owner$/m)
  t.match(out, / 0 lost, 0 doubled, 0 contradictions seen by clients, 0 gaps of events\n/)
})

t.test('every process of the trial cluster is replaced, and no request fails', async (t) => {
  const flags = ['--cluster', '--rounds=1', '--rate=20']
  const { exitCode, out } = await run('test/upgrade/main.js', ...flags)
  t.equal(exitCode, 0, out)
  t.match(out, /\n\d+ requests, 0 failed, none repeated\n/)
  t.equal(out.match(/^audit clean: /gm)?.length, 2)
  t.match(out, /\nunion of the shards: 0 faults\n/)
})
