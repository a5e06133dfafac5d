/** A short run of the comparison by database size. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { tempFolder } from '../support/temp_folder.js'
import { countsOf } from './accounts.js'
import { startClient } from './client/client.js'
import { describeMachine } from './machine.js'
import { measureWindow, type Tools } from './measured_window.js'
import { openSeeded } from './scale.js'
import { createStacks } from './stacks.js'

const COUNT = 40

t.test('kept seed data is not changed, and a missing window is reported', async (t) => {
  const [kept, folder] = [join(tempFolder(t), 'kept'), join(tempFolder(t), 'run')]
  mkdirSync(folder)
  const [stacks, client] = [createStacks(folder), startClient()]
  t.teardown(async () => {
    await client.stop()
    await stacks.stop()
  })
  const tools: Tools = {
    ...{ folder, out: folder, machine: describeMachine(folder), stacks, client },
    ...{ gateways: 1, store: 'sqlite', progress: () => undefined },
  }
  const system = await openSeeded(tools, kept, 'small', COUNT)
  const seeded = join(kept, `small-${COUNT}`, FILES.processorDatabase)
  const hash = (): string => createHash('sha256').update(readFileSync(seeded)).digest('hex')
  const before = hash()
  const window = { scenario: 'payouts', connections: 2, leadInMs: 0, measureMs: 20_000 } as const
  const uncounted = { ...system, account: () => undefined }
  await measureWindow(tools, uncounted, { ...window, side: 'a', journeys: 5 })
  t.match((await system.settle()).faults, [/^accepted = stored: 0 and 5 do not add up$/])
  await system.close()
  const { payouts } = await countsOf(system.stack.dataDir)
  const stored = Object.values(payouts).reduce((sum, count) => sum + count)
  t.equal(stored, COUNT + 5)
  t.equal(hash(), before)
})
