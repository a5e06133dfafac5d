/** Direct access to the rows of a world's books. */
import { inBooks, type RawBooks } from '../support/books.js'
import type { World } from '../support/world.js'

/** Changes rows as no writer of the books does while the processor is stopped; then it starts. */
export async function damage(
  world: World,
  change: string | ((books: RawBooks) => Promise<unknown>),
): Promise<void> {
  await inBooks<unknown>(world.folder, (books) =>
    typeof change === 'string' ? books.run(change) : change(books),
  )
  await world.rebuild()
}

export const rowsOf = <Row>(world: World, table: string): Promise<Row[]> =>
  inBooks(world.folder, ({ all }) => all<Row>(`SELECT * FROM ${table}`))
