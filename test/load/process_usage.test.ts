/** CPU time and memory from /proc. */
import { spawn, spawnSync } from 'node:child_process'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { machineCpuMs, taskCpuMs, usageBetween, usageNow } from './process_usage.js'

const fields = '1 1 1 0 -1 4194560 9 0 0 0 250 50 7 7 20 0 11 0 12345 1 2'
t.equal(taskCpuMs(`42 (node) S 1) S ${fields}`), 3_000, 'a name with spaces and brackets')
const stat = 'cpu  100 1 20 9999 999 3 4 5 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n'
t.equal(machineCpuMs(stat), 1_330, 'idle, iowait and guest time are not work')
t.throws(() => usageNow([{ name: 'rail', pid: 2 ** 22 + 1 }]), /rail/, 'it has exited')

const watched = [{ name: 'me', pid: process.pid }]
const before = usageNow(watched)
const workedUntil = process.cpuUsage().user + 200_000
while (process.cpuUsage().user < workedUntil);
const { me } = usageBetween(before, usageNow(watched)).processes
t.ok(me !== undefined && me.mainCpuMs >= 100 && me.rssMiB > 10)

const family = [{ name: 'me', pid: process.pid, hasChildren: true }]
/** CPU of children alone: living ones, and those that have ended. */
const childrenCpuMs = (): number => {
  const [all, own] = [usageNow(family), usageNow(watched)].map(({ processes }) => processes['me'])
  return (all?.otherCpuMs ?? 0) - (own?.otherCpuMs ?? 0)
}
const busy = spawn('sh', ['-c', 'while :; do :; done'])
t.teardown(() => busy.kill('SIGKILL'))
await eventually('the CPU time of a running child', () => childrenCpuMs() >= 50)
busy.kill('SIGKILL')
const beforeAnother = childrenCpuMs()
spawnSync(process.execPath, ['-e', 'while (process.cpuUsage().user < 200_000);'])
t.ok(childrenCpuMs() - beforeAnother >= 100, 'the CPU time of an ended child')
