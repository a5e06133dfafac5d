/** The action log of operators: its filters, page by page, however few actions a page searches. */
import t from 'tap'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { listActions } from '../../src/processor/queries/action_list.js'
import { createWorld, viewOf } from '../support/world.js'
import { OPERATOR, read, readAll } from './scenarios.js'

interface Listed {
  readonly actor: string
  readonly action: string
  readonly subject: string
}

t.test('every filter, page by page', async (t) => {
  const world = await createWorld(t)
  const [ann, ben] = [OPERATOR, { ...OPERATOR, name: 'ben' }]
  for (const [index, actor] of [ann, ben, ann, ann, ben, ann].entries()) {
    world.clock.pass(1)
    const kind = index % 2 === 0 ? 'suspend' : 'resume'
    viewOf(await world.run(changePartner(actor, 'demo', { kind })))
  }
  const all = await readAll<Listed>(world, (page) => listActions({ limit: 4, ...page }))
  t.ok(all.length >= 6)
  const wanted = [
    ...[{ by: 'ben' }, { by: ann.name }, { subject: 'demo' }, { by: 'nobody' }],
    ...[{ action: all[0]!.action }, { by: 'ben', action: all[1]!.action, subject: 'demo' }],
  ]
  for (const filter of wanted) {
    const expected = all.filter(
      ({ actor, action, subject }) =>
        actor === (filter.by ?? actor) &&
        action === ((filter as Partial<Listed>).action ?? action) &&
        subject === ((filter as Partial<Listed>).subject ?? subject),
    )
    for (const scannedMax of [1, 2, 2_000]) {
      const listed = await readAll<Listed>(world, (page) =>
        listActions({ ...filter, limit: 2, ...page }, scannedMax),
      )
      t.same(listed, expected, `${JSON.stringify(filter)} ${scannedMax}`)
    }
  }
  const none = await read(world, listActions({ by: 'nobody' }, all.length))
  t.match(viewOf(none), { data: [], next_cursor: null }, 'no action is left to search')
  const first = viewOf<{ next_cursor: string }>(await read(world, listActions({ limit: 1 })))
  const other = await read(world, listActions({ by: 'ben', cursor: first.next_cursor }))
  t.match(other, { code: 'invalid_request' }, 'the cursor of another list')
})
