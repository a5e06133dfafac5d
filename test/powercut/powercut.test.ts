/** Power cuts under load: nothing acknowledged is lost, and every omitted fsync is detected. */
import t from 'tap'
import { RECORDED } from './check.js'
import { crashPoint, faultsAfter, imagesUntilDetected, MUTANTS, nameOf } from './cuts.js'
import { record } from './workload.js'

// Two stacks one after the other, on a machine that may be busy.
t.setTimeout(0)
const SEED = 1
const ROUNDS = 8
const IMAGES = 12
/** A cut that drops all unsynced writes, and one with torn sectors. */
const START_EVERY = 11
const MUTANT_IMAGES = 40

const recording = await record(ROUNDS)
t.teardown(() => recording.close())
const { trace, acknowledged } = recording

t.test('every writing process loaded the recorder', async (t) => {
  for (const name of RECORDED) t.ok((trace.syncs.get(name) ?? 0) > 1, name)
})

t.test('everything acknowledged survives a power cut', async (t) => {
  for (let n = 0; n < IMAGES; n++) {
    const point = crashPoint(recording, SEED, n)
    t.same(await faultsAfter(recording, point, SEED, n % START_EVERY === 0), [], nameOf(point))
  }
})

for (const [name, files] of Object.entries(MUTANTS)) {
  t.test(`${name} is detected`, async (t) => {
    const images = await imagesUntilDetected(recording, files, SEED, MUTANT_IMAGES)
    t.ok(images !== null, `in image ${images} of at most ${MUTANT_IMAGES}`)
  })
}

t.ok(acknowledged.length > 100, `${acknowledged.length} answers, ${trace.records.length} records`)
