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
  ...faultsIn('src/rails/iso20022/shape_reader.ts', MESSAGES, {
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
  ...faultsIn('src/rails/iso20022/statement_pages.ts', 'rails/iso20022/statements', {
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
    'The statements of a year hide those that are missing in the next one.': [
      'number < ? AND at > ?',
      'number < ?',
    ],
  }),
]
