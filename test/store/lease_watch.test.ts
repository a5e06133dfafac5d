/** The rules by which a candidate takes over a lease. */
import t from 'tap'
import { LEASE_TIMEOUT_MS } from '../../src/store/postgres/lease.js'
import {
  createLeaseWatch,
  RESTART_WITHIN_MS,
  type SeenLease,
} from '../../src/store/postgres/lease_watch.js'

const OWNED: SeenLease = {
  ...{ shard: 'books_1', epoch: 3, holder: 'one', beat: 7, session: 9 },
  ...{ isConnected: true, moveTo: null },
}
const RELEASED: SeenLease = { ...OWNED, holder: '', isConnected: false }

/** Looks at the shard at a time in milliseconds. */
function watching(isSpare = false): (at: number, seen: SeenLease) => boolean {
  let now = 0
  const watch = createLeaseWatch({ name: 'two', holder: 'two@here', isSpare }, () => now)
  return (at, seen) => {
    now = at
    return watch.isTakeable(seen)
  }
}

t.test('an owner with heartbeats keeps the lease, and one without loses it', async (t) => {
  const look = watching()
  for (let second = 0; second < 20; second++)
    t.notOk(look(second * 1_000, { ...OWNED, beat: second }))
  t.notOk(look(19_000 + LEASE_TIMEOUT_MS - 1, { ...OWNED, beat: 19 }))
  t.ok(look(19_000 + LEASE_TIMEOUT_MS, { ...OWNED, beat: 19 }))
})

t.test('an owner whose session has ended has time for its own restart', async (t) => {
  const look = watching()
  const gone = { ...OWNED, isConnected: false }
  t.notOk(look(0, OWNED))
  t.notOk(look(500, gone))
  t.notOk(look(500 + RESTART_WITHIN_MS - 1, gone))
  t.ok(look(500 + RESTART_WITHIN_MS, gone))
  t.notOk(look(9_000, { ...OWNED, epoch: 4 }), 'the owner has restarted')
  t.notOk(look(9_100, { ...gone, epoch: 4 }), 'a later end of the session restarts the timeout')
  t.ok(look(9_100 + RESTART_WITHIN_MS, { ...gone, epoch: 4 }))
})

t.test('a session that was never seen open does not shorten the timeout', async (t) => {
  const look = watching()
  const elsewhere = { ...OWNED, isConnected: false }
  t.notOk(look(0, elsewhere))
  t.notOk(look(LEASE_TIMEOUT_MS - 1, elsewhere))
  t.ok(look(LEASE_TIMEOUT_MS, elsewhere))
  const after = watching()
  t.notOk(after(0, OWNED))
  t.notOk(after(100, { ...elsewhere, epoch: 4 }))
  t.notOk(after(100 + RESTART_WITHIN_MS, { ...elsewhere, epoch: 4 }), 'another owner')
  t.notOk(watching()(0, { ...OWNED, holder: 'two@elsewhere' }), 'the same name on another machine')
})

t.test('a released lease and one of the same processor are taken at once', async (t) => {
  t.ok(watching()(0, RELEASED))
  t.ok(watching(true)(0, RELEASED))
  const ended = { ...OWNED, holder: 'two@here#run1', isConnected: false }
  t.ok(watching(true)(0, ended))
})

t.test('a process of a copied data directory keeps its shard', async (t) => {
  const look = watching()
  const other = { ...OWNED, holder: 'two@here#run2' }
  for (let second = 0; second < 9; second++)
    t.notOk(look(second * 1_000, { ...other, beat: second }))
  t.ok(look(9_000, { ...other, isConnected: false }), 'once its session has ended')
})

t.test('while the shard moves only the named processor takes it at once', async (t) => {
  t.ok(watching()(0, { ...RELEASED, moveTo: 'two' }))
  t.notOk(watching()(0, { ...OWNED, moveTo: 'two' }), 'not before the release')
  const other = watching()
  t.notOk(other(0, { ...RELEASED, moveTo: 'three' }))
  t.notOk(other(LEASE_TIMEOUT_MS - 1, { ...RELEASED, moveTo: 'three' }))
  t.ok(
    other(LEASE_TIMEOUT_MS, { ...RELEASED, moveTo: 'three' }),
    'the named processor does not take it',
  )
  const ended = { ...OWNED, isConnected: false, holder: 'two@here', moveTo: 'three' }
  t.ok(watching()(0, ended), 'its owner restarts')
})

t.test('for other processors the timeout starts at the release', async (t) => {
  const look = watching()
  t.notOk(look(0, { ...OWNED, moveTo: 'three' }))
  t.notOk(look(LEASE_TIMEOUT_MS - 1, { ...OWNED, moveTo: 'three' }))
  t.notOk(look(LEASE_TIMEOUT_MS + 1, { ...RELEASED, moveTo: 'three' }))
})

t.test('a spare leaves a new shard to its configured processor first', async (t) => {
  const fresh = { ...RELEASED, epoch: 0, beat: 0 }
  t.ok(watching()(0, fresh))
  const spare = watching(true)
  t.notOk(spare(0, fresh))
  t.ok(spare(LEASE_TIMEOUT_MS, fresh))
})
