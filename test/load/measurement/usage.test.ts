import t from 'tap'
import { machineCpuMs, taskCpuMs, usageBetween, usageNow } from './usage.js'

t.test('a name with spaces and brackets does not shift the fields', (t) => {
  const fields = '1 1 1 0 -1 4194560 9 0 0 0 250 50 7 7 20 0 11 0 12345 1 2'
  t.equal(taskCpuMs(`42 (node) S 1) S ${fields}`), 3_000)
  t.equal(taskCpuMs(`42 (node) S ${fields}`), 3_000)
  t.end()
})

t.test('idle, iowait and guests are not work', (t) => {
  t.equal(machineCpuMs('cpu  100 1 20 9999 999 3 4 5 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n'), 1_330)
  t.end()
})

t.test('work of this process is seen, in the thread that did it', (t) => {
  const watched = [{ name: 'me', pid: process.pid }]
  const before = usageNow(watched)
  const workedUntil = process.cpuUsage().user + 200_000
  while (process.cpuUsage().user < workedUntil);
  const { me } = usageBetween(before, usageNow(watched)).processes
  t.ok(me !== undefined && me.mainThreadCpuMs >= 100)
  t.ok(me !== undefined && me.rssMiB > 10)
  t.end()
})

t.test('a process that has ended is named', (t) => {
  t.throws(() => usageNow([{ name: 'rail', pid: 2 ** 22 + 1 }]), /rail/)
  t.end()
})
