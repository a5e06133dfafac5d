/** Cursors are valid only for the list that made them. */
import t from 'tap'
import fc from 'fast-check'
import type { MasterKey } from '../../src/auth/master_key.js'
import { createCursors } from '../../src/processor/keys/cursors.js'

const key = (kid: string, byte: number): MasterKey => ({ kid, bytes: Buffer.alloc(32, byte) })
const cursors = createCursors([key('k1', 1)])

t.test('a cursor is valid only for its own list', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.string({ minLength: 1 }),
      fc.string(),
      (list, position, other) => {
        const cursor = cursors.make(list, position)
        const isOther = other !== list
        return (
          cursors.open(list, cursor) === position &&
          (!isOther || cursors.open(other, cursor) === undefined)
        )
      },
    ),
  )
  return Promise.resolve()
})

t.test('a cursor with one changed character is refused', async (t) => {
  const cursor = cursors.make('list', 'pout_01')
  for (let at = 0; at < cursor.length; at++) {
    const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
    t.equal(cursors.open('list', changed), undefined, changed)
  }
})

t.test('a cursor of a replaced key is valid, one of an unknown key is not', async (t) => {
  const cursor = cursors.make('list', 'here')
  t.equal(createCursors([key('k2', 2), key('k1', 1)]).open('list', cursor), 'here')
  t.equal(createCursors([key('k2', 2)]).open('list', cursor), undefined)
})
