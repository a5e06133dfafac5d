/**
 * What selects an outcome at the sandbox rail, as the partners' guide lists it: a payout's account,
 * or the ending of a payer's id.
 */
export const ACCOUNTS = {
  usual: '0123456789',
  closed: '9990000001',
  notFound: '9990000002',
  nameMismatch: '9990000003',
  /** Completes, and is reversed. */
  returned: '9990000005',
  /** Without a report; an inquiry finds the outcome. */
  unknownPaid: '9990000006',
  unknownRefused: '9990000007',
  /** Stays `processing`. */
  stuck: '9990000008',
} as const

export const ENDINGS = {
  usual: '',
  refused: '+fail',
  slow: '+slow',
  unknownPaid: '+unknown',
} as const
