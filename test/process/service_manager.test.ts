/** Messages to systemd, with a `systemd-notify` that writes them to a file. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'

const MAIN = join(projectRoot(), '.build/src/rails/sandbox/main.js')

function startRail(t: Test, variables: NodeJS.ProcessEnv) {
  const folder = tempFolder(t)
  const notify = '#!/bin/sh\nprintf "%s %s\\n" "$NOTIFY_SOCKET" "$1" >>"${0%/*}/sent"\n'
  writeFileSync(join(folder, 'systemd-notify'), notify, { mode: 0o700 })
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...{ PATH: `${folder}:/usr/bin:/bin`, DATA_DIR: folder, DOT_ENV: '', OPS_PORT: '0' },
      ...{ RAIL_LISTEN: '127.0.0.1:0', ...variables },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const sent = (): readonly string[] => {
    const file = join(folder, 'sent')
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  }
  return { child, sent, isServing: () => printed.includes('"serving"') }
}

t.test('systemd gets ready, watchdog and stopping messages', async (t) => {
  const { child, sent } = startRail(t, { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '100000' })
  await eventually('two watchdog messages', () => {
    return sent().filter((line) => line === '/run/notify WATCHDOG=1').length >= 2
  })
  t.same(sent().slice(0, 2), ['/run/notify STATUS=serving', '/run/notify READY=1'])
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  t.equal(code, 0)
  await eventually('the stop is reported', () => sent().includes('/run/notify STOPPING=1'))
  await eventually('with its status', () =>
    sent().includes('/run/notify STATUS=finishing open requests'),
  )
})

t.test('no watchdog message is sent for another process', async (t) => {
  const variables = { WATCHDOG_USEC: '1000', WATCHDOG_PID: '1', NOTIFY_SOCKET: '/run/notify' }
  const { child, sent, isServing } = startRail(t, variables)
  await eventually('the process is serving', isServing)
  child.kill('SIGTERM')
  await eventually('the stop is reported', () => sent().includes('/run/notify STOPPING=1'))
  t.notOk(sent().some((line) => line.includes('WATCHDOG')))
})

t.test('without NOTIFY_SOCKET no message is sent', async (t) => {
  const { child, sent, isServing } = startRail(t, { WATCHDOG_USEC: '1000' })
  await eventually('the process is serving', isServing)
  child.kill('SIGTERM')
  await once(child, 'exit')
  t.same(sent(), [])
})
