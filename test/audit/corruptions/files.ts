/** A context that is not JSON, an archive that is not there. A damaged page has its own test. */
import { breaks, type Corruptions } from '../corruption.js'

export const files: Corruptions = ({ payouts }) => [
  ...breaks('texts_are_json', {
    'a context cut short': [
      `UPDATE payouts SET context = substr(context, 1, 99) WHERE id = '${payouts.held}'`,
      payouts.held,
    ],
    'the lists of a partner': ["UPDATE partners SET corridors = '[' WHERE id = 'demo'", 'demo'],
    'a list of a partner that is none': [
      "UPDATE partners SET allowed_ips = '{}' WHERE id = 'demo'",
      'demo',
    ],
    'the report of a discrepancy':
      "UPDATE discrepancies SET report = '{' WHERE resolved_at IS NULL",
  }),
  ...breaks('archive_has_what_left', {
    'the archive is missing': [
      "INSERT INTO archives (id, path, created_at) VALUES ('a1', '/nowhere/payments.db', 1)",
      '',
    ],
  }),
]
