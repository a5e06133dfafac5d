/** A gateway in a process of its own (gateway_process), whose memory or files a test limits. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const PROGRAM = fileURLToPath(new URL('./gateway_process.js', import.meta.url))

/** @param filesMax open files, sockets included; default: those of this process */
export async function spawnGateway(t: Test, filesMax?: number) {
  const limits = filesMax === undefined ? '' : `ulimit -n ${filesMax}; `
  const command = ['-c', `${limits}exec "$0" "$1"`, process.execPath, PROGRAM]
  const child = spawn('/bin/sh', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, pid: child.pid }
}
