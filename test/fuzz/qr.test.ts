/** A short run of the QR fuzzer from fixed seeds, and a proof that it detects each violation. */
import t from 'tap'
import { readQr } from '../../src/qr/read.js'
import { rejected, type QrReason } from '../../src/qr/reasons.js'
import { attackQr } from './qr_attack.js'

const INPUTS = 4_000
const fewer = (index: number): boolean => index < INPUTS

t.test('the QR reader withstands fuzzed codes', async (t) => {
  const verdicts = new Set<string>()
  for (const seed of [1, 20_261_121]) {
    const report = attackQr({ seed, goesOn: fewer })
    t.same(report.faults, [])
    t.equal(report.inputs, INPUTS)
    t.ok((report.statuses['read'] ?? 0) > INPUTS / 50, 'valid readings occur')
    for (const verdict of Object.keys(report.statuses)) verdicts.add(verdict)
  }
  t.ok(verdicts.size > 25, `many reasons occur: ${[...verdicts].join(', ')}`)
})

t.test('a seed and an index repeat an input', async (t) => {
  const alone = (only: number): object => attackQr({ seed: 3, only, goesOn: fewer }).statuses
  t.same(alone(7), alone(7))
  t.equal(attackQr({ seed: 3, only: 7, goesOn: fewer }).inputs, 1)
})

t.test('a violation of each rule is detected', async (t) => {
  let reads = 0
  const readers: Readonly<Record<string, typeof readQr>> = {
    'it threw': (payload, corridor) => {
      if (payload.includes('😀')) throw new Error('a bug')
      return readQr(payload, corridor)
    },
    'touches for': (payload, corridor) => {
      for (const _ of payload) payload.slice(0)
      return readQr(payload, corridor)
    },
    'a second reading differs': (payload, corridor) =>
      reads++ % 2 === 0 ? readQr(payload, corridor) : rejected('payload_empty'),
    'an unknown reason': () => rejected('no_such' as QrReason),
    'more members': (payload) => ({ ...rejected('payload_charset'), payload }),
    'masked as': (payload, corridor) => {
      const read = readQr(payload, corridor)
      if (!read.ok) return read
      const { destination } = read.reading
      return { ok: true, reading: { ...read.reading, destinationMasked: destination.account } }
    },
    'not in the code': (payload, corridor) => {
      const read = readQr(payload, corridor)
      if (!read.ok) return read
      const destination = { ...read.reading.destination, account: '00000000000000000000' }
      return { ok: true, reading: { ...read.reading, destination } }
    },
  }
  for (const [what, read] of Object.entries(readers)) {
    const { faults } = attackQr({ seed: 5, goesOn: (index) => index < 500, read })
    t.ok(
      faults.some((fault) => fault.includes(what)),
      what,
    )
  }
})
