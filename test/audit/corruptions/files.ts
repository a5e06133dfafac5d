/** A context that is not JSON. A damaged page has its own test. */
import type { Corruptions } from '../corruption.js'

export const files: Corruptions = ({ payouts }) => [
  {
    what: 'a context cut short',
    sql: `UPDATE payouts SET context = substr(context, 1, 99) WHERE id = '${payouts.held}'`,
    breaks: 'texts_are_json',
    of: payouts.held,
  },
]
