/**
 * Many power cuts: `make powercut IMAGES=200 SEED=1`, or `node .build/test/powercut/main.js
 * --images 200 --seed 1`. A stack is started on one image in nineteen, so after every kind of cut.
 * Exits with 1 when an image lacks an acknowledged write, or an omitted fsync is not detected.
 *
 * The seed determines the cuts; the recorded writes and their order depend on the machine.
 */
import { programOptions } from '../../src/process/program_options.js'
import { crashPoint, faultsAfter, imagesUntilDetected, MUTANTS, nameOf } from './cuts.js'
import { record } from './workload.js'

const { images, seed } = programOptions('powercut', 'Crash images of recorded writes.', {
  images: { value: 'N', about: 'number of images', kind: 'number', fallback: 200 },
  seed: { value: 'N', about: 'repeats a run', kind: 'number', fallback: 1 },
})
const ROUNDS = 25
const START_EVERY = 19
const FAULTS_SHOWN = 5
const say = (line: string): void => console.log(line)

const recording = await record(ROUNDS)
const { trace, acknowledged } = recording
say(`${acknowledged.length} answers over ${trace.records.length} changes and fsyncs`)
let bad = 0
// Images on which a stack starts come first, because session tokens expire.
const starts = Array.from({ length: images }, (_, n) => n).sort(
  (a, b) => Number(a % START_EVERY > 0) - Number(b % START_EVERY > 0) || a - b,
)
for (const n of starts) {
  const point = crashPoint(recording, seed, n)
  const faults = await faultsAfter(recording, point, seed, n % START_EVERY === 0)
  if (faults.length === 0) continue
  bad += 1
  say(`image ${n}: ${nameOf(point)}`)
  for (const fault of faults.slice(0, FAULTS_SHOWN)) say(`  ${fault}`)
}
say(`${images} images, ${bad} of them with faults`)
for (const [name, files] of Object.entries(MUTANTS)) {
  const detected = await imagesUntilDetected(recording, files, seed, images)
  say(`${name}: ${detected === null ? 'NOT detected' : `detected in image ${detected}`}`)
  if (detected === null) bad += 1
}
await recording.close()
if (bad > 0 || images === 0) process.exitCode = 1
