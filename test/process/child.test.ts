/** A child process without its supervisor. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

t.setTimeout(0)

t.test('a process whose stop hangs ends after its supervisor', async (t) => {
  const child = fork(join(projectRoot(), '.build/test/process/stuck_child.js'))
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const ended = once(child, 'exit')
  child.disconnect()
  t.same(await ended, [1, null])
})
