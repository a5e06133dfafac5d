/** A list of the processors as a card: its rows, the next page, the command that lists the same. */
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { card, commandLine, incomplete, pager, table, type Column } from '../html/parts.js'
import { missingIn, part, type PageContext } from '../session/console_page.js'

export interface ListCard<T, A extends object = object> {
  readonly title: string
  readonly call: Promise<A & Listed<T>>
  /** For readers of the screen. */
  readonly caption: string
  readonly columns: readonly (string | Column)[]
  readonly row: (entry: T, context: PageContext) => readonly Content[]
  /** Said in place of the table without rows. */
  readonly empty: string
  /** The command of the CLI. */
  readonly command: string
  /** Where its next page is, without the cursor. Absent if the list has one page. */
  readonly path?: string
  readonly hint?: (answer: A & Listed<T>) => Content
  readonly aside?: (answer: A & Listed<T>) => Content
}

interface Listed<T> {
  readonly data: readonly T[]
  readonly next_cursor?: string
}

/** A corrupt row is named, in place of its cells. */
export const rowOrName =
  <T extends { readonly corrupt?: string }>(
    row: (entry: T, context: PageContext) => readonly Content[],
  ) =>
  (entry: T, context: PageContext): readonly Content[] =>
    entry.corrupt === undefined ? row(entry, context) : [`${entry.corrupt}: corrupt row`]

export const name = (title: string): Column => ({ title, isName: true })

export const number = (title: string): Column => ({ title, isNumber: true })

export function listCard<T, A extends object>(
  context: PageContext,
  { title, call, caption, columns, row, ...list }: ListCard<T, A>,
): Promise<Html> {
  return part(`The list “${title}”`, call, (answer) => {
    const rows = answer.data.map((entry) => row(entry, context))
    const missing = missingIn(answer)
    const empty = missing.length === 0 ? list.empty : 'There is nothing in the books that answered.'
    const next =
      list.path === undefined
        ? answer.next_cursor !== undefined && html`<p class="hint">There are more.</p>`
        : pager(list.path, answer.next_cursor)
    return html`${incomplete(missing)}
    ${card(
      title,
      html`${table({ caption, columns, rows, empty })} ${list.hint?.(answer)} ${next}
      ${commandLine(list.command)}`,
      list.aside?.(answer),
    )}`
  })
}

/** The open or the resolved entries of a list, as the address of the page says. */
export const isResolved = ({ query }: PageContext): boolean => query.get('resolved') === 'yes'

export function resolvedFilter(
  path: string,
  isShown: boolean,
  [open, resolved]: readonly [string, string],
): Html {
  const link = (text: string, href: string, isCurrent: boolean): Html =>
    html`<a class="button" href="${href}" ${isCurrent ? html`aria-current="true"` : NOTHING}
      >${text}</a
    >`
  return html`<p class="filters">
    ${link(open, path, !isShown)} ${link(resolved, `${path}?resolved=yes`, isShown)}
  </p>`
}
