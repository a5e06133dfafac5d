/** The stored form of a context: earlier versions wrote it, and read what this one writes. */
import fc from 'fast-check'
import t from 'tap'
import { intentContextIn } from '../../actors/intent/context.js'
import { payoutContextIn } from '../../actors/payout/context.js'
import { storedContext } from '../../actors/stored_context.js'

const STORED = {
  id: 'pi_1',
  tenant: 'demo_sandbox',
  handedOverAt: 1,
  asked: 2,
  recall: { requestedAt: 3, asked: 4, refused: true },
  scanned: { quote: { id: 'quote_1' } },
  wakeAt: null,
}
const IN_MEMORY = {
  id: 'pi_1',
  tenant: 'demo_sandbox',
  submittedAt: 1,
  inquiries: 2,
  recall: { requestedAt: 3, inquiries: 4, refused: true },
  scanned: { quote: { id: 'quote_1' } },
  dueAt: null,
}

t.test('three members have other names in the books', async (t) => {
  t.strictSame(intentContextIn(STORED), IN_MEMORY)
  t.strictSame(payoutContextIn(STORED), IN_MEMORY)
  t.strictSame(storedContext(IN_MEMORY as never), STORED)
})

t.test('any context is read as it was written, and an absent member stays absent', async (t) => {
  const name = fc.constantFrom(...Object.keys(IN_MEMORY), 'reference', 'description')
  const value = fc.oneof(
    fc.integer(),
    fc.string(),
    fc.constant(null),
    fc.dictionary(name, fc.nat()),
  )
  fc.assert(
    fc.property(fc.dictionary(name, value), (context) => {
      const stored = JSON.stringify(storedContext(context))
      t.strictSame(intentContextIn(JSON.parse(stored)), JSON.parse(JSON.stringify(context)))
    }),
    { numRuns: 200 },
  )
})

t.test('what is no object is no context', async (t) => {
  for (const stored of [null, 1, 'text', true]) t.equal(payoutContextIn(stored), null)
})
