/** The numbers of a partner that moves to and fro stay within those that a shard has. */
import t from 'tap'
import { misfitOf, shiftsTo, type Numbers } from '../../src/store/cluster/partner_numbers.js'

const MOVES = 200
const USED_BETWEEN = 1_000
const all = (number: number): Numbers => ({
  ...{ posting: number, position: number, key: number, intent: number },
})
const sum = (one: Numbers, other: Numbers): Numbers => ({
  ...{ posting: one.posting + other.posting, position: one.position + other.position },
  ...{ key: one.key + other.key, intent: one.intent + other.intent },
})

t.test('new partners that move in turns use one margin a move', async (t) => {
  let [source, target] = [all(USED_BETWEEN), all(0)]
  for (let move = 0; move < MOVES; move++) {
    const below = source
    source = sum(source, all(USED_BETWEEN))
    const shifts = shiftsTo(target, below)
    const misfit = misfitOf(shifts, source, target)
    if (misfit !== null) {
      t.fail(`move ${move}: ${misfit}`)
      break
    }
    const first = sum(below, shifts)
    for (const kind of ['position', 'key', 'intent'] as const)
      if (first[kind] <= target[kind]) t.fail(`${kind} ${first[kind]} is used`)
    if (first.posting <= target.posting) t.fail(`posting ${first.posting} is used`)
    ;[source, target] = [sum(source, shifts), source]
  }
  t.ok(target.key < (MOVES / 2 + 2) * 1e7 + MOVES * 10 * USED_BETWEEN, `${target.key} keys`)
})

t.test(
  'a posting never gets a lower number, as the books prove its first one by that',
  async (t) => {
    const shifts = shiftsTo(all(10), all(5_000_000_000))
    t.equal(shifts.posting, 1)
    t.ok(shifts.position < 0 && shifts.key < 0 && shifts.intent < 0)
  },
)

t.test('the other shard has used what lies below the first number', async (t) => {
  const shifts = shiftsTo(all(10), all(5_000_000_000))
  t.equal(misfitOf(shifts, all(5_000_000_100), all(10)), null)
  t.match(misfitOf(shifts, all(5_000_000_100), all(3e9)), 'has used the numbers')
  t.match(misfitOf(shiftsTo(all(4e9), all(0)), all(3e8), all(4e9)), 'no numbers left')
})
