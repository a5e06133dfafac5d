/** Ids: order, shape, randomness. */
import t from 'tap'
import fc from 'fast-check'
import { instant } from '../../src/base/clock.js'
import {
  isIdOf,
  newId,
  partsOfTenant,
  PREFIX,
  tenantOf,
  type Environment,
  type IdKind,
  type PartnerId,
} from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'

const random = systemRandom()
const instants = fc.integer({ min: 0, max: 2 ** 47 })

t.test('ids of a kind sort by time', async () => {
  fc.assert(
    fc.property(instants, instants, (one, other) => {
      fc.pre(one !== other)
      const [a, b] = [
        newId('intent', instant(one), random),
        newId('intent', instant(other), random),
      ]
      return a < b === one < other
    }),
  )
})

t.test('an id is recognized as its own kind only', async (t) => {
  for (const kind of Object.keys(PREFIX) as IdKind[]) {
    const id = newId<string>(kind, instant(1_795_239_297_425), random)
    t.ok(isIdOf(kind, id), id)
    t.equal(id.length, PREFIX[kind].length + 26)
    for (const other of Object.keys(PREFIX) as IdKind[]) {
      if (other !== kind) t.notOk(isIdOf(other, id))
    }
  }
  for (const text of ['', 'pi_', 'pi_01m7', `pi_${'0'.repeat(25)}`, `pi_${'I'.repeat(26)}`]) {
    t.notOk(isIdOf('intent', text))
  }
})

t.test('each id has 80 random bits', async (t) => {
  const bytes = [Buffer.alloc(10, 0), Buffer.alloc(10, 255)]
  const scripted = { bytes: () => bytes.shift() ?? Buffer.alloc(10), fraction: () => 0 }
  t.equal(newId('payout', instant(0), scripted), `pout_${'0'.repeat(26)}`)
  t.equal(newId('payout', instant(0), scripted), `pout_${'0'.repeat(10)}${'Z'.repeat(16)}`)
  const many = new Set(Array.from({ length: 10_000 }, () => newId('event', instant(5), random)))
  t.equal(many.size, 10_000)
})

t.test('a tenant id is parsed into partner and environment', async (t) => {
  for (const environment of ['sandbox', 'production'] as Environment[]) {
    const tenant = tenantOf('acme-pay' as PartnerId, environment)
    t.same(partsOfTenant(tenant), { partner: 'acme-pay', environment })
  }
})
