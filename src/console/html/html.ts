/**
 * Templates of HTML. Everything that is put into one is escaped; only another template is not.
 *
 * - Texts of partners, banks and receivers have their control and format characters shown as
 *   escapes: they cannot turn the direction of what is beside them.
 */
import { html as template } from 'hono/html'
import { toVisibleText } from '../../base/visible_text.js'

/** What a template makes. */
export type Html = string & { readonly isEscaped: true }

export type Content =
  string | number | bigint | Html | null | undefined | false | readonly Content[]

const isHtml = (content: Content): content is Html =>
  typeof content === 'object' && content !== null && 'isEscaped' in content

export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  // It returns a promise only for contents that are promises.
  return template(strings, ...contents.map(visible)) as unknown as Html
}

function visible(content: Content): unknown {
  if (typeof content === 'string') return toVisibleText(content)
  if (isHtml(content)) return content
  if (Array.isArray(content)) return content.map(visible)
  return typeof content === 'bigint' ? String(content) : content
}

export const NOTHING: Html = html``
