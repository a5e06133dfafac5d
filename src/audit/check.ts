/**
 * A check: one thing that must hold in the books, and how to find where it does not.
 *
 * Owns: the form all checks have. Does not own: the checks (checks/), their order (checklist).
 *
 * - A check looks at every row it is about, or says of which databases it has none.
 * - It names the first thing that is broken, what was found and what was expected; it mends
 *   nothing.
 * - The rules are written down here anew, from the design, and not taken from the programs that
 *   keep the books: a mistake there shall not excuse itself.
 */
import { inEachPool, type Books, type Source } from './books.js'

export interface Check {
  readonly name: string
  /** What must hold. */
  readonly sentence: string
  /** Databases it compares with the processor's. */
  readonly reads: readonly Source[]
  /** It adds rows up, or follows a chain of them: left out when some are corrupt. */
  readonly needsEveryRow?: true
  run(books: Books): Promise<Finding>
}

export interface Finding {
  /** How many rows were looked at. */
  readonly rows: number
  readonly broken: Broken | null
}

export interface Broken {
  /** Whose timeline helps: an entity's id, an account, or the key of a limit. */
  readonly entity: string
  readonly found: string
  readonly expected: string
}

interface QueryCheck {
  readonly name: string
  readonly sentence: string
  readonly reads?: readonly Source[]
  /** Tables whose rows it looks at. */
  readonly over: readonly string[]
  /**
   * Selects `entity`, `found` and `expected` of what is broken. `:as_of` is the books' instant,
   * `:replaced_at` that of the pools' replacement, `:pool` one webhook pool after another.
   */
  readonly broken: string | ((books: Pick<Books, 'pools'>) => string)
}

/** A check that one query decides. */
export function byQuery({ name, sentence, reads = [], over, broken }: QueryCheck): Check {
  return {
    name,
    sentence,
    reads,
    run: async (books) => {
      const text = typeof broken === 'string' ? broken : broken(books)
      const rows = await rowsOf(books, over)
      const dated = text
        .replaceAll(':as_of', String(books.asOf))
        .replaceAll(':replaced_at', String(books.poolsReplacedAt))
      for (const sql of inEachPool(dated, books)) {
        const [first] = await books.all<Broken>(
          `SELECT * FROM (${sql}) ${exceptAbout(books.corrupt)} LIMIT 1`,
        )
        if (first !== undefined) return { rows, broken: first }
      }
      return { rows, broken: null }
    },
  }
}

/** What refers to a corrupt row is not broken by itself. Ids have no quotes. */
const exceptAbout = (corrupt: ReadonlySet<string>): string =>
  corrupt.size === 0
    ? ''
    : `WHERE entity NOT IN (${[...corrupt].map((id) => `'${id.replaceAll("'", '')}'`).join(', ')})`

export async function rowsOf(books: Books, tables: readonly string[]): Promise<number> {
  let rows = 0
  for (const table of tables.flatMap((each) => inEachPool(each, books))) {
    rows += await books.count(table)
  }
  return rows
}

/** The amount that a text of the books stands for; it throws on what is none. */
export function amountOf(text: string | null): bigint {
  if (text === null || !/^-?[0-9]+$/.test(text)) throw new Error(`${text} is no amount`)
  return BigInt(text)
}
