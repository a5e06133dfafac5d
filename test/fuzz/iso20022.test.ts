/** A short run of the fuzzer of ISO 20022 messages, and a proof that it detects each violation. */
import t from 'tap'
import { readMessage } from '../../src/rails/iso20022/codec.js'
import { MessageFault } from '../../src/rails/iso20022/xml.js'
import { attackMessages } from './iso20022_attack.js'

const INPUTS = 1_000

t.test('the reader withstands damaged messages', async (t) => {
  for (const seed of [1, 20_261_124]) {
    const report = attackMessages({ seed, goesOn: (index) => index < INPUTS })
    t.same(report.faults, [])
    t.equal(report.inputs, INPUTS)
    t.ok(report.read > INPUTS / 10, 'valid messages occur')
    t.ok(report.read < INPUTS, 'faults occur')
  }
})

t.test('a violation of each rule is detected', async (t) => {
  let reads = 0
  const readers: Readonly<Record<string, typeof readMessage>> = {
    'it threw': () => {
      throw new TypeError('a bug')
    },
    'it tells': () => {
      throw new MessageFault('Id 0071001234567 is too long')
    },
    'a second reading differs': (bytes, bounds) => {
      const message = readMessage(bytes, bounds)
      return { ...message, id: `${message.id}${(reads += 1)}`.slice(-35) }
    },
  }
  for (const [what, read] of Object.entries(readers)) {
    const { faults } = attackMessages({ seed: 5, goesOn: (index) => index < 100, read })
    t.ok(
      faults.some((fault) => fault.includes(what)),
      what,
    )
  }
})
