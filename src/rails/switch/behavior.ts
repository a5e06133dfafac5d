/**
 * How the switch misbehaves with a payment, chosen by its account or its reference.
 *
 * - An account begins with 999000, and its last four digits choose; a reference is `switch:MODE` or
 *   `switch:refused:CODE`. Any other payment is paid.
 * - Whatever the mode, the money of a payment moves at most once.
 */
const MODES = {
  paid: 'executes it and says so',
  refused: 'rejects it, with the code of the account or reference',
  late: 'executes it after 1.5 seconds',
  pending: 'never ends it',
  returned: 'executes it, then sends the money back',
  recall_refused: 'executes it and refuses its recall',
  recall_repeated: 'answers its recall with "already returned"',
  partial_return: 'sends back one minor unit less after a recall',
  lost: 'executes it and ends the connection without an answer',
  lost_request: 'drops the first message',
  unknown: 'executes it without an answer, and says that it does not know it until it comes again',
  twice: 'executes it and reports it three times',
  contradictory: 'rejects it, and then reports its execution',
  withdrawn: 'executes it, and then reports a rejection',
  wrong_amount: 'executes one minor unit more',
  no_amount: 'executes it, and only a statement tells the amount',
  bad_signature: 'executes it, and answers with the signature of another body',
  oversized: 'executes it, and answers with 10 MB of XML',
  message_rejected: 'answers the first message with admi.002',
  duplicate: 'executes it and answers that it is a repetition',
  statement_gap: 'executes it, and skips a statement number before the next statement',
} as const

export type Mode = keyof typeof MODES

export interface Behavior {
  readonly mode: Mode
  /** The reason of a rejection. */
  readonly code: string
}

const BY_ACCOUNT: Readonly<Record<string, Behavior>> = {
  '0001': { mode: 'refused', code: 'AC04' },
  '0002': { mode: 'refused', code: 'AC01' },
  '0003': { mode: 'refused', code: 'BE01' },
  '0005': { mode: 'returned', code: '' },
  '0006': { mode: 'lost', code: '' },
  '0007': { mode: 'refused', code: 'MS03' },
  '0008': { mode: 'pending', code: '' },
  '0009': { mode: 'recall_refused', code: '' },
  '0010': { mode: 'late', code: '' },
}
const TEST_ACCOUNT = '999000'
const REFERENCE = /^switch:([a-z_]+)(?::([A-Z0-9]{4}))?$/
const PAID: Behavior = { mode: 'paid', code: '' }

export function behaviorOf(account: string, reference: string): Behavior {
  const [, mode, code = 'MS03'] = REFERENCE.exec(reference) ?? []
  if (mode !== undefined && isMode(mode)) return { mode, code }
  if (!account.startsWith(TEST_ACCOUNT)) return PAID
  return BY_ACCOUNT[account.slice(-4)] ?? PAID
}

const isMode = (text: string): text is Mode => Object.hasOwn(MODES, text)
