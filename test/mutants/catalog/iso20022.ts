/** Faults of the area `iso20022`. */
import type { Mutant } from '../mutant.js'

const MESSAGES = 'test/rails/iso20022/messages'
const MISBEHAVIOR = 'test/rails/iso20022/misbehavior'

export const ISO20022: readonly Mutant[] = [
  {
    fault: 'A payment that the switch does not know is refused, and would be paid again.',
    file: 'src/rails/iso20022/outcome.ts',
    text: 'if (code === NOT_KNOWN || (isOfQuery',
    replacement: 'if ((isOfQuery',
    test: MESSAGES,
  },
  {
    fault: 'A rejected inquiry without a known reason refuses the payment.',
    file: 'src/rails/iso20022/outcome.ts',
    text: ' || (isOfQuery && !isKnownRefusal(code))',
    replacement: '',
    test: MESSAGES,
  },
  {
    fault: 'A repeated message refuses the payment.',
    file: 'src/rails/iso20022/outcome.ts',
    text: 'if (saysDuplicate(code)) return ACCEPTED',
    replacement: '',
    test: MESSAGES,
  },
  {
    fault: 'A recall of returned money counts as refused.',
    file: 'src/rails/iso20022/outcome.ts',
    text: 'code !== ALREADY_RETURNED && ',
    replacement: '',
    test: MESSAGES,
  },
  {
    fault: 'A report is taken for a payment with another UETR.',
    file: 'src/rails/iso20022/outcome.ts',
    text: 'OrgnlUETR === undefined || OrgnlUETR === uetrOf(id)',
    replacement: 'id !== undefined',
    test: MESSAGES,
  },
  {
    fault: 'An amount has more digits than its currency.',
    file: 'src/rails/iso20022/shape_reader.ts',
    text: ' || fraction.length > exponent',
    replacement: '',
    test: MESSAGES,
  },
  {
    fault: 'A document type is read.',
    file: 'src/rails/iso20022/xml.ts',
    text: '/<[!?]/.test(text)',
    replacement: '/<[?]/.test(text)',
    test: 'test/rails/iso20022/xml',
  },
  {
    fault: 'A signature without a key id is accepted.',
    file: 'src/rails/iso20022/signature.ts',
    text: "if (typeof head?.kid !== 'string') throw new Error('no key id')",
    replacement: '',
    test: 'test/rails/iso20022/signature',
  },
  {
    fault: 'A body without a valid signature is taken.',
    file: 'src/rails/iso20022/transport.ts',
    text: 'if (await options.verifier.verify(body, signatureIn(incoming)))',
    replacement: 'if (body.length > 0)',
    test: MISBEHAVIOR,
  },
  {
    fault: 'An answer without a valid signature counts.',
    file: 'src/rails/iso20022/transport.ts',
    text: 'if (await verifier.verify(answer, header)) return answer',
    replacement: 'if (answer.length > 0) return answer',
    test: MISBEHAVIOR,
  },
  {
    fault: 'A message of another member is taken.',
    file: 'src/rails/iso20022/bank.ts',
    text: 'message.from === us.switch && message.to === us.agent',
    replacement: 'message.to === us.agent',
    test: MISBEHAVIOR,
  },
  {
    fault: 'A repeated payment message has another time, so other bytes.',
    file: 'src/rails/iso20022/bank.ts',
    text: 'writeMessage(creditTransfer(instruction, receivedAt, us))',
    replacement: 'writeMessage(creditTransfer(instruction, clock.now() ?? receivedAt, us))',
    test: MISBEHAVIOR,
  },
  {
    fault: 'A return of less money counts as a return.',
    file: 'src/rails/adapter/bank_rules.ts',
    text: 'if (entry.executions > 0 && !isWhole) {',
    replacement: 'if (entry.executions > 1 && !isWhole) {',
    test: MISBEHAVIOR,
  },
  {
    fault: 'A missing statement is not noticed.',
    file: 'src/rails/iso20022/record.ts',
    text: 'Math.min(number - from - 1, MISSING_MAX)',
    replacement: 'Math.min(number - from - 1, 0)',
    test: MISBEHAVIOR,
  },
]
