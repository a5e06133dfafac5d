/**
 * An audit check: one rule that the books must satisfy, and how to find a violation.
 *
 * Owns: the interface of all checks. Does not own: the checks (checks/), their order (checklist).
 *
 * - A check reads every row it applies to. It names the other databases that it needs.
 * - It reports the first violation with the value found and the value expected. It repairs nothing.
 * - Checks restate the rules from the design and import none of the code that writes the books. A
 *   bug there cannot hide itself.
 */
import { inEachPool, type Books, type Source } from './books.js'

export interface Check {
  readonly name: string
  /** The rule, as printed in a report. */
  readonly sentence: string
  /** Databases it compares with the processor's. */
  readonly reads: readonly Source[]
  /** It sums rows or follows a chain of them, so it is skipped when a row is corrupt. */
  readonly needsEveryRow?: true
  run(books: Books): Promise<Finding>
}

export interface Finding {
  /** Rows checked. */
  readonly rows: number
  readonly broken: Violation | null
}

export interface Violation {
  /** The subject of the timeline to show: an entity's id, an account or a limit counter's key. */
  readonly entity: string
  readonly found: string
  readonly expected: string
}

interface QueryCheck {
  readonly name: string
  readonly sentence: string
  readonly reads?: readonly Source[]
  /** Tables whose rows it checks. */
  readonly over: readonly string[]
  /**
   * Selects `entity`, `found` and `expected` of each violation. `:as_of` is the time of the
   * snapshots, `:replaced_at` when the pools were replaced. A query with `:pool` runs once per
   * pool.
   */
  readonly broken: string | ((books: Pick<Books, 'pools'>) => string)
}

/** The part of the books that a check by query reads. */
export type QueriedRows = Pick<
  Books,
  'asOf' | 'poolsReplacedAt' | 'pools' | 'corrupt' | 'all' | 'count'
>

/** A check that is one query. */
export interface RowCheck extends Check {
  run(books: QueriedRows): Promise<Finding>
}

export function byQuery({ name, sentence, reads = [], over, broken }: QueryCheck): RowCheck {
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
        const [first] = await books.all<Violation>(
          `SELECT * FROM (${sql}) ${exceptCorrupt(books.corrupt)} LIMIT 1`,
        )
        if (first !== undefined) return { rows, broken: first }
      }
      return { rows, broken: null }
    },
  }
}

/** A row that refers to a corrupt row is no violation of its own. Ids have no quotes. */
const exceptCorrupt = (corrupt: ReadonlySet<string>): string =>
  corrupt.size === 0
    ? ''
    : `WHERE entity NOT IN (${[...corrupt].map((id) => `'${id.replaceAll("'", '')}'`).join(', ')})`

export async function rowsOf(
  books: Pick<Books, 'pools' | 'count'>,
  tables: readonly string[],
): Promise<number> {
  let rows = 0
  for (const table of tables.flatMap((each) => inEachPool(each, books))) {
    rows += await books.count(table)
  }
  return rows
}

/** Parses an amount stored as text. @throws Error on any other text */
export function amountOf(text: string | null): bigint {
  if (text === null || !/^-?[0-9]+$/.test(text)) throw new Error(`${text} is not an amount`)
  return BigInt(text)
}
