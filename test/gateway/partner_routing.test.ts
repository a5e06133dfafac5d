/** The processor of each partner, derived from the announcements of all processors. */
import t from 'tap'
import {
  createPartnerRouting,
  type PartnerRouting,
} from '../../gateway/upstream/partner_routing.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { PartnerId } from '../../src/base/ids.js'

interface Processor {
  readonly name: string
}

const [one, two, three] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }] as const

const announcing = (
  shard: string,
  epoch: number,
  names: readonly string[],
  more: Partial<PartnerUpdate__Output> = {},
): PartnerUpdate__Output => ({
  ...{ shard, epoch: String(epoch), shards: [], gone: [], complete: true, token_keys: [] },
  addresses: [],
  waiting: false,
  partners: names.map((name) => partner(name)),
  ...more,
})

const partner = (name: string, key_id = `${name}_key`) => ({
  partner_id: name,
  keys: [{ key_id, environment: 'sandbox', secret: 'sk', revoked_at: '0' }],
  ...{ allowed_ips: [], packages: [], rate_limit_per_second: 0 },
})

const changing = (more: Partial<PartnerUpdate__Output>): PartnerUpdate__Output =>
  announcing('', 0, [], { complete: false, ...more })

interface Watched {
  readonly routing: PartnerRouting<Processor>
  readonly changes: string[]
  readonly conflicts: string[]
  announce(processor: Processor, update: PartnerUpdate__Output): void
  ownerOf(name: string): string | undefined
}

function watched(...processors: readonly Processor[]): Watched {
  const changes: string[] = []
  const conflicts: string[] = []
  const routing = createPartnerRouting<Processor>(
    (partners: readonly PartnerId[]) => changes.push(partners.join()),
    (kid) => conflicts.push(kid),
  )
  for (const processor of processors) routing.add(processor)
  return {
    ...{ routing, changes, conflicts },
    announce: (processor, update) => {
      routing.opened(processor)
      routing.updated(processor, update)
    },
    ownerOf: (name) => routing.ownerOf(`${name}_production`)?.name,
  }
}

t.test('a processor serves the partners that it announces, in both environments', async (t) => {
  const { routing, announce, ownerOf, changes } = watched(one, two)
  t.equal(routing.partners(), undefined, 'no partners before a snapshot')
  announce(one, announcing('books_1', 1, ['acme', 'shop']))
  announce(two, announcing('books_2', 1, ['umbrella']))
  t.same(['acme', 'shop', 'umbrella', 'nobody'].map(ownerOf), ['one', 'one', 'two', undefined])
  t.equal(routing.ownerOf('acme_sandbox'), one)
  t.same(changes, ['acme,shop', 'umbrella'])
  t.ok(routing.partners()?.key('umbrella_key'))

  routing.updated(two, changing({ partners: [partner('late'), partner('umbrella', 'new_key')] }))
  t.equal(ownerOf('late'), 'two')
  t.same(changes.slice(2), ['late'], 'a changed key is no change of the owner')
  t.equal(routing.partners()?.key('umbrella_key'), undefined)
  t.ok(routing.partners()?.key('new_key'))
  const status = { shard: 'books_2', epoch: 1, fresh: true, isWaiting: false, partners: 2 }
  t.same(routing.statusOf(two), status)
})

t.test('the higher epoch of a shard wins, in either order', async (t) => {
  for (const order of [
    [one, two],
    [two, one],
  ] as const) {
    const { routing, announce, ownerOf } = watched(one, two)
    for (const processor of order) {
      announce(processor, announcing('books_1', processor === one ? 4 : 5, ['acme']))
    }
    t.equal(ownerOf('acme'), 'two')
    routing.updated(one, changing({ partners: [partner('acme', 'of_former_owner')] }))
    t.equal(
      routing.partners()?.key('of_former_owner'),
      undefined,
      'an update of the former owner is ignored',
    )
    routing.broke(one)
    routing.broke(two)
    t.equal(ownerOf('acme'), 'two', 'the same when both streams are broken')
  }
})

t.test('an open stream of a lower epoch wins over a broken one', async (t) => {
  const { routing, announce, ownerOf } = watched(one, two)
  announce(one, announcing('books_1', 28, ['acme', 'shop']))
  routing.broke(one)
  announce(two, announcing('books_1', 3, ['acme']))
  t.equal(ownerOf('acme'), 'two', 'the books were restored to an earlier epoch')
  t.equal(ownerOf('shop'), 'one', 'they lack this partner')
  announce(one, announcing('books_1', 28, ['acme']))
  t.equal(ownerOf('acme'), 'one', 'while both streams are open')
})

t.test('every shard has its processors with an open stream', async (t) => {
  const { routing, announce } = watched(one, two, three)
  announce(one, announcing('books_1', 1, ['acme'], { shards: ['books_1', 'books_2', 'books_3'] }))
  announce(two, announcing('books_2', 1, []))
  routing.broke(two)
  t.same(Object.fromEntries(routing.shards()), { books_1: [one], books_2: [], books_3: [] })
})

t.test('of two shards that announce a partner, the one with an open stream has it', async (t) => {
  const { routing, announce, ownerOf } = watched(one, two)
  announce(one, announcing('books_1', 9, ['acme']))
  announce(two, announcing('books_2', 1, ['acme']))
  t.equal(ownerOf('acme'), 'one', 'the first one, while both streams are open')
  routing.broke(one)
  t.equal(ownerOf('acme'), 'two')
})

t.test('a withdrawn partner keeps its keys and has no owner', async (t) => {
  const { routing, announce, ownerOf, changes } = watched(one, two)
  announce(one, announcing('books_1', 1, ['acme', 'shop']))
  routing.updated(one, changing({ gone: ['acme'] }))
  t.same([ownerOf('acme'), ownerOf('shop')], [undefined, 'one'])
  t.ok(routing.partners()?.key('acme_key'))
  announce(two, announcing('books_1', 2, ['acme', 'shop']))
  t.same([ownerOf('acme'), ownerOf('shop')], ['two', 'two'])
  t.same(changes, ['acme,shop', 'acme', 'acme,shop'])
})

t.test('a snapshot replaces the last one when it is complete, not before', async (t) => {
  const { routing, announce, ownerOf } = watched(one)
  announce(one, announcing('books_1', 1, ['acme', 'shop']))
  routing.broke(one)
  t.equal(routing.statusOf(one).fresh, false)
  routing.opened(one)
  routing.updated(one, announcing('books_1', 1, ['acme'], { complete: false }))
  t.equal(ownerOf('shop'), 'one')
  routing.updated(one, announcing('', 0, [], { complete: true }))
  t.same([ownerOf('acme'), ownerOf('shop')], ['one', undefined])
  routing.remove(one)
  t.equal(ownerOf('acme'), undefined)
})

t.test(
  'the directory is complete after a snapshot from every shard, or from every processor',
  async (t) => {
    const unlisted = watched(one, two)
    unlisted.announce(one, announcing('books_1', 1, ['acme']))
    t.notOk(unlisted.routing.isComplete())
    unlisted.announce(two, announcing('', 0, []))
    t.ok(unlisted.routing.isComplete(), 'without a list of shards: every processor')

    const listed = watched(one, two, three)
    const shards = ['books_1', 'books_2']
    listed.announce(one, announcing('books_1', 1, ['acme'], { shards }))
    t.notOk(listed.routing.isComplete())
    listed.announce(two, announcing('books_2', 1, [], { shards }))
    t.ok(listed.routing.isComplete(), 'without the third processor, which has no shard')
  },
)

t.test('token keys of all processors are in use', async (t) => {
  const { routing, announce, conflicts } = watched(one, two)
  const key = (kid: string, byte: number) => ({ kid, secret: Buffer.alloc(32, byte) })
  announce(one, announcing('books_1', 1, ['acme'], { token_keys: [key('k1', 1)] }))
  announce(two, announcing('books_2', 1, [], { token_keys: [key('k2', 2), key('k1', 1)] }))
  t.same([...(routing.partners()?.tokenKeys()?.byKid.keys() ?? [])], ['k1', 'k2'])
  routing.updated(two, changing({ partners: [partner('shop')] }))
  announce(one, announcing('books_1', 2, ['acme'], { token_keys: [key('k1', 1)] }))
  t.ok(routing.partners()?.tokenKeys()?.byKid.has('k2'), 'an update without keys changes none')
  t.same(conflicts, [])
  announce(two, announcing('books_2', 1, [], { token_keys: [key('k1', 3)] }))
  t.same(conflicts, ['k1'])
})
