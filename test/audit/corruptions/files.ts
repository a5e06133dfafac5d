/** A text that cannot be read any more. A damaged page has a test of its own. */
import type { Corruptions } from '../corruption.js'

export const files: Corruptions = ({ payouts }) => [
  {
    what: 'a context cut short',
    sql: `UPDATE payouts SET context = substr(context, 1, 99) WHERE id = '${payouts.held}'`,
    breaks: 'texts_are_json',
    of: payouts.held,
  },
]
