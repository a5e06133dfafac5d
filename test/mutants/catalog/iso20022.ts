/** Faults of the area `iso20022`. */
import { faultsIn, type Mutant } from '../mutant.js'

const MESSAGES = 'rails/iso20022/messages'
const MISBEHAVIOR = 'rails/iso20022/misbehavior'

export const ISO20022: readonly Mutant[] = [
  ...faultsIn('src/rails/iso20022/outcome.ts', MESSAGES, {
    'A payment that the switch does not know is refused, and would be paid again.': [
      'if (code === NOT_KNOWN || (isOfQuery',
      'if ((isOfQuery',
    ],
    'A rejected inquiry without a known reason refuses the payment.': [
      ' || (isOfQuery && !isKnownRefusal(code))',
      '',
    ],
    'A repeated message refuses the payment.': ['if (saysDuplicate(code)) return ACCEPTED', ''],
    'A recall of a payment that the switch does not know counts as refused.': [
      ' && code !== NOT_KNOWN\n',
      '\n',
    ],
    'A recall of returned money counts as refused.': ['code !== ALREADY_RETURNED && ', ''],
    'The rejection of a whole message is not that of its payment.': [
      'ofMessages.length > 0 ? ofMessages',
      'ofMessages.length > 1 ? ofMessages',
    ],
    'A report is taken for a payment with another UETR.': [
      'OrgnlUETR === undefined || OrgnlUETR === uetrOf(id)',
      'id !== undefined',
    ],
  }),
  ...faultsIn('src/rails/iso20022/outcome.ts', MESSAGES, {
    'Of several returns in a message only the first one counts.': [
      'message.body.TxInf.flatMap',
      'message.body.TxInf.slice(0, 1).flatMap',
    ],
  }),
  ...faultsIn('src/rails/iso20022/reason_codes.ts', MESSAGES, {
    'A repeated message refuses the payment, with one of the codes for it.': [", 'DU04'", ''],
  }),
  ...faultsIn('src/rails/iso20022/shape_reader.ts', MESSAGES, {
    'An amount without the last digit of its currency is read as a tenth.': [
      ".padEnd(exponent, '0')",
      '',
    ],
    'An amount beyond 64 bits is read.': ['if (minor > INT64_MAX)', 'if (minor < 0n)'],
    'An amount has more digits than its currency.': [
      ' || !/^0*$/.test(fraction.slice(exponent))',
      '',
    ],
  }),
  ...faultsIn('src/rails/iso20022/statement_entries.ts', 'rails/iso20022/statement_entries', {
    'The correction of a payment that was booked twice counts as its return.': [
      'isTrue(RvslInd) && RtrInf === undefined',
      'isTrue(RvslInd) && RtrInf !== undefined',
    ],
    'A charge with the reference of a payment counts as its execution.': [
      'if (charge !== undefined) return',
      'if (charge === id) return',
    ],
    'A small entry executes the whole payment that its details repeat.': [
      "return stated.minor > own.minor ? 'amount' : stated",
      'return stated',
    ],
    'A payment of a batch entry whose parts are not its amount is executed.': [
      '(isWhole ? statedIn(part) : undefined)',
      '(isWhole === undefined ? undefined : statedIn(part))',
    ],
    'A charge of another currency is taken off the payment.': [
      ' && record.Amt.currency === Amt.currency',
      '',
    ],
    'A charge that only the details tell is taken for money of the payment.': [
      'Chrgs ?? details.Chrgs ?? {',
      'Chrgs ?? {',
    ],
    'A correction that is marked with a digit counts as a return.': [
      "text === 'true' || text === '1'",
      "text === 'true'",
    ],
    'Bookings of a payment in two currencies are the same one.': [
      'one.minor === other.minor && one.currency === other.currency',
      'one.minor === other.minor',
    ],
    'An entry with the ids of two payments is of the first one.': [
      'others.every((other) => other === id) && ',
      '',
    ],
    'Of two different bookings of a payment the first one counts.': [
      'if (others.every(({ amount }) => isEqual(amount, first.amount))) saids',
      'saids',
    ],
  }),
  ...faultsIn('src/rails/iso20022/statements.ts', 'rails/iso20022/statements', {
    'All accounts with an IBAN share one series of numbers.': [
      "IBAN ?? Othr?.Id ?? ''",
      "Othr?.Id ?? (IBAN && '')",
    ],
  }),
  ...faultsIn('src/rails/iso20022/statements.ts', 'rails/iso20022/statements', {
    'An entry that is not booked changes the balance of its statement.': [
      'Ntry.filter(({ Sts }) => Sts.Cd === BOOKED)',
      'Ntry',
    ],
    'The statements of an account in two currencies are one series.': [
      'const series = `${accountOf(Acct)} ${currency}`',
      'const series = accountOf(Acct)',
    ],
    'All statements without a number are one.': [
      'ElctrncSeqNb ?? Id, pagination?.PgNb',
      "ElctrncSeqNb ?? '', pagination?.PgNb",
    ],
  }),
  ...faultsIn('src/rails/iso20022/statement_pages.ts', 'rails/iso20022/statements', {
    'The opening balance of a statement is that of its last page.': [
      'opening: pages[0]?.opening ?? null',
      'opening: last.opening',
    ],
    'A missing page between others is not noticed.': [
      'if (missing.length > 0) return',
      'if (missing.length > pages.length) return',
    ],
  }),
  ...faultsIn('src/rails/iso20022/shape_writer.ts', MESSAGES, {
    'A message is written that no XML parser reads.': ['if (!isXmlText(given))', 'if (false)'],
  }),
  ...faultsIn('src/rails/iso20022/xml.ts', 'rails/iso20022/xml', {
    'A document type is read.': ['/<[!?]/.test(text)', '/<[?]/.test(text)'],
  }),
  ...faultsIn('src/rails/iso20022/signature.ts', 'rails/iso20022/signature', {
    'A signature without a key id is accepted.': [
      "if (typeof head?.kid !== 'string') throw new Error('no key id')",
      '',
    ],
  }),
  ...faultsIn('src/rails/iso20022/transport.ts', MISBEHAVIOR, {
    'A body without a valid signature is taken.': [
      'if (await options.verifier.verify(body, signatureIn(incoming)))',
      'if (body.length > 0)',
    ],
    'An answer without a valid signature counts.': [
      'if (await verifier.verify(answer, header)) return answer',
      'if (answer.length > 0) return answer',
    ],
  }),
  ...faultsIn('src/rails/iso20022/transport.ts', MISBEHAVIOR, {
    'A message that does not tell its length has none that is too large.': [
      'if (length > max) throw new TooLarge()',
      '',
    ],
  }),
  ...faultsIn('src/rails/iso20022/transport.ts', 'rails/iso20022/bank', {
    'A fault of the switch counts as its word that the answer comes later.': [
      'if (status !== 200) throw new TransportFault(`the switch answered ${status}`)',
      'if (status !== 200) return undefined',
    ],
  }),
  ...faultsIn('src/rails/iso20022/bank.ts', 'rails/iso20022/bank', {
    'An answer about another payment counts.': [
      'saidIn(message, answered).find((each) => each.id === id)',
      'saidIn(message, answered)[0]',
    ],
    'A message is taken before what it says is on disk.': [
      'await Promise.all(saids',
      'void Promise.allSettled(saids',
    ],
  }),
  ...faultsIn('src/rails/iso20022/bank.ts', MISBEHAVIOR, {
    'A notification of single entries is taken, and nothing of it is stored.': [
      'saids.push(...found.saids)',
      'saids.push(...found.saids.slice(found.saids.length))',
    ],
    'A payment of the other environment is sent.': [
      'environment === us.environment ? transferOf',
      'environment.length > 0 ? transferOf',
    ],
    'A message of another member is taken.': [
      'message.from === us.switch && message.to === us.agent',
      'message.to === us.agent',
    ],
    'A repeated payment message has another time, so other bytes.': [
      'writeMessage(creditTransfer(instruction, receivedAt, us))',
      'writeMessage(creditTransfer(instruction, clock.now() ?? receivedAt, us))',
    ],
  }),
  ...faultsIn('src/rails/adapter/bank_rules.ts', MISBEHAVIOR, {
    'A return of less money counts as a return.': [
      'if (entry.executions > 0 && !isWhole) {',
      'if (entry.executions > 1 && !isWhole) {',
    ],
  }),
  ...faultsIn('src/rails/adapter/bank_rules.ts', 'rails/bank_rules', {
    'A return in another currency counts as a return.': [
      'amount === entry.amount && currency === entry.currency',
      'amount === entry.amount',
    ],
    'An execution that is told again in another currency is the same one.': [
      'entry.amount === amount && entry.currency === currency',
      'entry.amount === amount',
    ],
    'After a restart a payment is sent again before the end of the finality window.': [
      'submittedAt(entry.id) ?? startedAt',
      'submittedAt(entry.id) ?? plus(startedAt, -finalityWindowMs)',
    ],
    'A payment is sent again after its `not_after`.': ['context.now > notAfter', 'context.now < 0'],
  }),
  ...faultsIn('src/rails/adapter/bank_rules.ts', 'rails/bank_adapter', {
    'A late answer of before the finality window ends a payment.': [
      'submitAgain(entry, outcome.askedAt, context)',
      'submitAgain(entry, context.now, context)',
    ],
    'A late message that names no question ends a payment.': [
      ' && outcome.askedAt !== undefined',
      '',
    ],
  }),
  ...faultsIn('src/rails/iso20022/record.ts', MISBEHAVIOR, {
    'A missing statement is not noticed.': [
      'Math.min(number - from - 1, MISSING_MAX)',
      'Math.min(number - from - 1, 0)',
    ],
  }),
  ...faultsIn('src/rails/iso20022/record.ts', 'rails/iso20022/record', {
    'A recall that is sent again has another moment, so other bytes.': [
      "VALUES (?, ?) ON CONFLICT DO NOTHING'",
      "VALUES (?, ?) ON CONFLICT DO UPDATE SET created_at = excluded.created_at'",
    ],
    'The statements of a year hide those that are missing in the next one.': [
      'number < ? AND at > ?',
      'number < ?',
    ],
  }),
]
