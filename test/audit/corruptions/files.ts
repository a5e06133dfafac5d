/** Texts that are not JSON, columns of another kind, an archive that is not there. */
import { breaks, changed, type Corruptions } from '../corruption.js'

export const files: Corruptions = ({ payouts }) => [
  ...breaks('texts_are_json', {
    'a context cut short': changed('payouts', payouts.held, 'context = substr(context, 1, 99)'),
    'the lists of a partner': ["UPDATE partners SET corridors = '[' WHERE id = 'demo'", 'demo'],
    'a list of a partner that is none': [
      "UPDATE partners SET allowed_ips = '{}' WHERE id = 'demo'",
      'demo',
    ],
    'the report of a discrepancy':
      "UPDATE discrepancies SET report = '{' WHERE resolved_at IS NULL",
    'the arguments of a request': "UPDATE approval_requests SET arguments = '{'",
  }),
  ...breaks('columns_hold_their_kind', {
    'a moment of the far future':
      "UPDATE operator_log SET at = 9007199254740993 WHERE action = 'withdraw'",
    'a negative moment': changed('payouts', payouts.processing, 'due_at = -7'),
    'a currency that is none': 'UPDATE fx_quotes SET bought_currency = lower(bought_currency)',
  }),
  ...breaks('books_have_an_owner', { 'no owner': ['DELETE FROM owner', ''] }),
  ...breaks('archive_has_what_left', {
    'the archive is missing': [
      "INSERT INTO archives (id, path, created_at) VALUES ('a1', '/nowhere/payments.db', 1)",
      '',
    ],
  }),
]
