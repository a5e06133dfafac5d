/** Which orphan executions the rail is asked about. */
import t from 'tap'
import {
  createOrphanInquiries,
  INQUIRIES_AT_ONCE,
} from '../../src/processor/background/orphan_inquiries.js'
import { createOrphanIndex, type Orphan } from '../../src/processor/cache/orphan_index.js'
import type { RailInstruction } from '../../src/rails/rail.js'

const orphan = (instruction: string, over: Partial<Orphan> = {}): Orphan => ({
  instruction,
  recovery: 1,
  environment: 'sandbox',
  purpose: 'payout',
  destination: null,
  account_last4: null,
  amount: 5n,
  currency: 'VND',
  reference: null,
  transaction_id: '',
  executed_at: 1,
  status: 'open',
  matched_to: null,
  resolved_at: null,
  state: 'accepted',
  rail: null,
  ...over,
})

const inquiriesOf = (...orphans: readonly Orphan[]) => inquiriesAt(['bank_a'], ...orphans)

function inquiriesAt(names: readonly string[], ...orphans: readonly Orphan[]) {
  const index = createOrphanIndex()
  for (const each of orphans) index.set(each)
  const link = { isUp: true }
  const sent: string[] = []
  const { inquire } = createOrphanInquiries({
    memory: { orphans: index },
    rails: {
      names,
      up: () => link.isUp,
      send: (given: readonly RailInstruction[], rail) => {
        for (const each of given) {
          const asked = each.kind === 'query' ? each.id : 'no query'
          sent.push(names.length === 1 ? asked : `${asked} ${rail}`)
        }
      },
    },
  })
  const asked = (): string[] => {
    inquire()
    return sent.splice(0)
  }
  return { asked, index, link }
}

t.test('the rail is asked about open orphan executions that it had accepted', async (t) => {
  const { asked, index, link } = inquiriesOf(
    orphan('pout_1'),
    orphan('pout_executed', { state: 'executed' }),
    orphan('pout_refused', { state: 'refused' }),
    orphan('pout_dismissed', { status: 'resolved', resolved_at: 2 }),
    orphan('pout_anywhere', { environment: null }),
    orphan('pi_2', { environment: 'production' }),
  )
  t.same(asked(), ['pout_1', 'pi_2'])
  t.same(asked(), ['pout_1', 'pi_2'], 'again, while nothing is known')
  link.isUp = false
  t.same(asked(), [])
  link.isUp = true
  index.set(orphan('pout_1', { state: 'executed' }))
  index.set(orphan('pi_2', { state: 'refused' }))
  t.same(asked(), [])
})

t.test('many are asked about in turn', async (t) => {
  const count = INQUIRIES_AT_ONCE + 3
  const { asked } = inquiriesOf(...Array.from({ length: count }, (_, i) => orphan(`pout_${i}`)))
  const all = [...asked(), ...asked()]
  t.equal(new Set(all).size, count)
  t.equal(all.length, count)
  t.equal(asked().length, INQUIRIES_AT_ONCE, 'from the first on')
})

t.test('several rails are asked which of them has an execution', async (t) => {
  const matched = { state: 'executed', status: 'matched', matched_to: 'pout_5' } as const
  const { asked, index } = inquiriesAt(
    ['bank_a', 'bank_b'],
    orphan('pout_1'),
    orphan('pout_2', { state: 'executed' }),
    orphan('pout_3', { state: 'returned' }),
    orphan('pout_4', { ...matched, resolved_at: 2 }),
  )
  const all = ['pout_1', 'pout_2', 'pout_4']
  t.same(asked(), [...all.map((id) => `${id} bank_a`), ...all.map((id) => `${id} bank_b`)])
  index.set(orphan('pout_1', { rail: 'bank_b' }))
  index.set(orphan('pout_2', { state: 'executed', rail: 'bank_b' }))
  index.set(orphan('pout_4', { ...matched, resolved_at: 2, rail: 'bank_a' }))
  t.same(asked(), ['pout_1 bank_b'], 'the one that has accepted it')
  index.set(orphan('pout_1', { status: 'resolved', resolved_at: 3 }))
  index.set(orphan('pout_2', { status: 'resolved', resolved_at: 3 }))
  index.set(orphan('pout_4', { ...matched, resolved_at: 2 }))
  t.same(asked(), ['pout_4 bank_a', 'pout_4 bank_b'], 'also when none is open')
})
