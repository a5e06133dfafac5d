import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { startClient } from './client/client.js'
import { describeMachine } from './measurement/machine.js'
import { aWindow } from './report/results.js'
import { isMet } from './report/result.js'
import { openBooks, type ScaleOptions } from './scale_books.js'
import { memoryFindings, readFindings, writeFindings } from './scale_findings.js'
import { countsOf } from './system_under_test/accounts.js'
import { createPrograms } from './system_under_test/programs.js'
import { tempFolder } from '../support/temp_folder.js'

const COUNT = 40

t.test('kept books are as they were, whatever a run writes to its copy', async (t) => {
  const [kept, scratch] = [join(tempFolder(t), 'kept'), join(tempFolder(t), 'scratch')]
  const programs = createPrograms(scratch)
  const client = startClient()
  t.teardown(async () => {
    await client.stop()
    await programs.stop()
  })
  const options: ScaleOptions = {
    ...{ kept, scratch, programs, client, clock: systemClock },
    ...{ small: COUNT, large: COUNT, live: 1, windowMs: 100, repeat: 1, inFlight: 1, gateways: 1 },
    machine: describeMachine(tempFolder(t)),
    progress: () => undefined,
  }
  const books = await openBooks(options, 'small', COUNT)
  const before = fingerprintOf(join(kept, `small-${COUNT}`))
  const { host, key_id: keyId, signing_secret: secret } = books.stack.sandbox
  const outcome = await client.run(
    {
      scenario: {
        ...{ name: 'payouts', host, keyId, secret, fixtures: books.fixtures },
        ...{ withIdempotencyKey: true, awaitsWebhooks: true },
      },
      journeys: 10,
      lasts: false,
      window: {
        ...{ address: books.stack.address, connections: 2, schedule: undefined },
        ...{ leadInMs: 0, measureMs: 20_000 },
      },
    },
    { begun: () => 0, opened: () => 0, closed: () => 0, intervalSample: () => 0 },
  )
  const unheard = await books.settle()
  t.ok(unheard.faults.length > 0, 'what nobody accounts for does not add up')
  books.took(outcome)
  t.same((await books.settle()).faults, [])
  await books.close()

  t.equal(sum((await countsOf(books.stack.dataDir)).payouts), COUNT + 10)
  t.equal(fingerprintOf(join(kept, `small-${COUNT}`)), before)
})

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)

const fingerprintOf = (folder: string): string =>
  createHash('sha256')
    .update(readFileSync(join(folder, FILES.processorDatabase)))
    .digest('hex')

const turn = (side: string, p99: number, processor: number) =>
  aWindow({
    side,
    latency: { ...aWindow().latency, p99 },
    cpuMicros: {
      'gateway-1': { main: 10, others: 0 },
      'gateway-2': { main: 10, others: 0 },
      processor: { main: processor, others: 10 },
      client: { main: 1_000, others: 1_000 },
    },
    rssMiB: { processor },
  })
const TURNS = [
  ...[turn('small', 10, 50), turn('large', 11, 60), turn('large', 500, 60), turn('small', 12, 50)],
  ...[turn('small', 11, 50), turn('large', 12, 600)],
]

t.test('one bad turn is not taken for the books, and the client costs nothing', (t) => {
  const reads = new Map(readFindings(TURNS).map((found) => [found.name, found]))
  const p99 = reads.get('p99, large / small')
  t.equal(p99?.value, 12 / 11)
  t.ok(p99 !== undefined && isMet(p99))
  t.equal(reads.get('CPU a read, small')?.value, 80)
  t.equal(reads.get('CPU a read, large / small')?.value, 90 / 80)

  const writes = new Map(writeFindings(TURNS, 'create').map(({ name, value }) => [name, value]))
  t.equal(writes.get('gateway, large / small'), 1)
  t.equal(writes.get('processor, large / small'), 70 / 60)
  t.equal(writes.get('CPU a create, large / small'), 90 / 80)
  t.end()
})

t.test('books that cost more are told', (t) => {
  const dear = [turn('small', 10, 50), turn('large', 10, 90)]
  const found = writeFindings(dear, 'create').find(({ target }) => target !== undefined)
  t.equal(found?.name, 'CPU a create, large / small')
  t.notOk(found !== undefined && isMet(found))
  const memory = memoryFindings([turn('small', 10, 50), turn('large', 10, 513)])
  t.same(memory.map(isMet), [undefined, false])
  t.end()
})
