/** What a processor reads of its PostgreSQL server: timeline, synchrony, clock. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import type { Reader } from '../../src/store/database.js'
import { readClockOffset } from '../../src/store/postgres/server_clock.js'
import { readSynchrony } from '../../src/store/postgres/synchrony.js'
import { timelinesIn } from '../../src/store/postgres/timelines.js'
import { tempFolder } from '../support/temp_folder.js'

const NOW = 1_790_000_000_000

const answering = (row: object): Pick<Reader, 'all'> => ({
  all: <Row>() => Promise.resolve([row as Row]),
})

t.test('the newest timeline of a server is kept', async (t) => {
  const file = join(tempFolder(t), 'timeline.json')
  const timelines = timelinesIn(file, false)
  t.equal(timelines.known(), undefined)
  timelines.used({ system: 'a', timeline: 3 })
  timelines.used({ system: 'a', timeline: 2 })
  t.same(timelines.known(), { system: 'a', timeline: 3 }, 'a former primary replaces nothing')
  t.same(timelinesIn(file, false).known(), { system: 'a', timeline: 3 }, 'also after a restart')
  timelines.used({ system: 'b', timeline: 1 })
  t.same(timelinesIn(file, false).known(), { system: 'b', timeline: 1 }, 'another server')
})

t.test('a recovery begins with any timeline, which is kept from then on', async (t) => {
  const file = join(tempFolder(t), 'timeline.json')
  timelinesIn(file, false).used({ system: 'a', timeline: 3 })
  const recovering = timelinesIn(file, true)
  t.equal(recovering.known(), undefined)
  recovering.used({ system: 'a', timeline: 2 })
  t.same(JSON.parse(readFileSync(file, 'utf8')), { system: 'a', timeline: 2 })
})

t.test('a damaged file of the timeline is as none', async (t) => {
  const file = join(tempFolder(t), 'timeline.json')
  for (const text of ['', '{"system":"a"', '{"system":"a"}', '{"system":1,"timeline":2}']) {
    writeFileSync(file, text)
    t.equal(timelinesIn(file, false).known(), undefined, text)
  }
})

t.test('commits wait for a standby, or a reason says why not', async (t) => {
  const read = (commit: string, names: string, isVisible = true) =>
    readSynchrony(answering({ commit, names, standbys: 1, isVisible }))
  t.same(await read('on', 'ANY 1 (*)'), { fault: null, standbys: 1 })
  t.same(await read('remote_apply', 's1', false), { fault: null, standbys: null })
  t.match(await read('on', ' '), { fault: /synchronous_standby_names is empty/ })
  for (const commit of ['off', 'local', 'remote_write']) {
    t.match(await read(commit, 's1'), { fault: `synchronous_commit is ${commit}: ` }, commit)
  }
})

t.test('a slow answer never makes the difference of the clocks larger', async (t) => {
  const offset = (at: number): Promise<number> => {
    const times = [NOW, NOW + 500]
    return readClockOffset(answering({ at }), { now: () => instant(times.shift() ?? NOW) })
  }
  t.equal(await offset(NOW + 200), 0)
  t.equal(await offset(NOW - 2_000), 2_000, 'this machine is ahead')
  t.equal(await offset(NOW + 2_500), -2_000, 'this machine is behind')
})
