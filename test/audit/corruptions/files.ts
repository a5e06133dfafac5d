/** A context that is not JSON, an archive that is not there. A damaged page has its own test. */
import { breaks, type Corruptions } from '../corruption.js'

export const files: Corruptions = ({ payouts }) => [
  ...breaks('texts_are_json', {
    'a context cut short': [
      `UPDATE payouts SET context = substr(context, 1, 99) WHERE id = '${payouts.held}'`,
      payouts.held,
    ],
  }),
  ...breaks('archive_has_what_left', {
    'the archive is missing': [
      "INSERT INTO archives (id, path, created_at) VALUES ('a1', '/nowhere/payments.db', 1)",
      '',
    ],
  }),
]
