/**
 * Statements that come in several messages: whether each page has come, and their figures together.
 *
 * - Pages can come in any order and repeatedly. A page that is missing is told when the last page
 *   comes, or the next statement of the account.
 */
import type { Record, StatementFigures } from './record.js'

/** Pages are numbered from 1. */
export interface Pagination {
  readonly PgNb: string
  readonly LastPgInd: string
}

export interface Arrival {
  /** Pages that are missing, each as `number of the statement page number`. */
  readonly missing: readonly string[]
  /** The figures of all pages. Undefined while one is missing. */
  readonly whole: StatementFigures | undefined
}

/** More missing pages than these are not listed. */
const MISSING_MAX = 100

/**
 * Stores the page.
 *
 * @param statement its number or id within the series
 * @param pagination undefined if it has one page
 */
export async function pageArrived(
  record: Record,
  series: string,
  statement: string,
  pagination: Pagination | undefined,
  figures: StatementFigures,
): Promise<Arrival> {
  const left = await record.unfinished(series, statement)
  const missingBefore = left.flatMap((each) => missingIn(each.statement, each.pages))
  const page = Number(pagination?.PgNb ?? 1)
  const isLast = ['true', '1'].includes(pagination?.LastPgInd ?? 'true')
  if (page === 1 && isLast) return { missing: missingBefore, whole: figures }
  const pages = await record.page(series, statement, { ...figures, page, isLast })
  const last = pages.find((each) => each.isLast)
  if (last === undefined) return { missing: missingBefore, whole: undefined }
  const missing = missingIn(
    statement,
    pages.map((each) => each.page),
    last.page,
  )
  if (missing.length > 0) return { missing: [...missingBefore, ...missing], whole: undefined }
  const moved = pages.reduce((sum, each) => sum + each.moved, 0n)
  return { missing: missingBefore, whole: { ...last, opening: pages[0]?.opening ?? null, moved } }
}

/** @param end the last page; default: the one after the greatest that has come */
function missingIn(
  statement: string,
  pages: readonly number[],
  end = Math.max(...pages) + 1,
): readonly string[] {
  const found = new Set(pages)
  const missing: string[] = []
  for (let page = 1; page <= end && missing.length < MISSING_MAX; page++) {
    if (!found.has(page)) missing.push(`${statement} page ${page}`)
  }
  return missing
}
