/** Faults of the area `lifecycle`. */
import type { Mutant } from '../mutant.js'

export const LIFECYCLE: readonly Mutant[] = [
  {
    fault: 'An expired quote is confirmed.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: "if (now >= quote.expiresAt) return 'quote_expired'",
    replacement: '',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'Another quote than the named one is confirmed.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: "if (!isBoundQuote(request, context)) return 'quote_changed'",
    replacement: '',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'An intent is confirmed without a quote.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: "if (scanned === undefined) return 'quote_required'",
    replacement: 'if (scanned === undefined) return null',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'An expired intent is scanned.',
    file: 'src/processor/commands/intents/intent_scan.ts',
    text: "live.state !== 'created' || ctx.now >= context.expiresAt",
    replacement: "live.state !== 'created'",
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'The version of a quote is not counted.',
    file: 'src/processor/commands/intents/intent_scan.ts',
    text: '(context.scanned?.quote.version ?? 0) + 1',
    replacement: '1',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'A code of another corridor is scanned.',
    file: 'src/processor/commands/intents/intent_scan.ts',
    text: 'if (!read.ok) return refuse(wireCodeOf(read.reason))\n' + '      const client',
    replacement: "if (!read.ok) return refuse('configuration_error')\n" + '      const client',
    test: 'test/processor/intent_tables',
  },
  {
    fault: 'An execution of another amount completes the payment.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'execution.amount === expected.amount &&',
    replacement: '',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'An execution in another currency completes the payment.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'execution.currency === expected.currency &&',
    replacement: '',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'An execution to another account completes the payment.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'execution.destinationAccount === expected.account &&',
    replacement: '',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'An execution after the end moves the payment.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: "if (payment.state === 'ended') return [{ report, reason: " + "'executed_after_end' }]",
    replacement: "if (payment.state === 'ended') return NO_MISMATCH",
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'A second execution of a payment is taken for the first.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text:
      'else if (isOtherExecution(payment, report)) return [{ report, reason: ' +
      "'executed_again' }]",
    replacement: '',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'A refusal after the execution is ignored.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: "return mismatch('refused_after_execution')",
    replacement: 'return NO_MISMATCH',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'A report about an unknown instruction is ignored.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'reason === null ? NO_MISMATCH : [{ report, reason }]',
    replacement: 'NO_MISMATCH',
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'A report is not acknowledged.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'if (report.reportId !== null) {',
    replacement: "if (report.reportId === '') {",
    test: 'test/processor/discrepancies',
  },
  {
    fault: 'Not found counts before the finality window.',
    file: 'src/processor/commands/rail_reports/rail_report_apply.ts',
    text: 'at < plus(payment.submittedAt, finalityWindowMs)',
    replacement: 'at < payment.submittedAt',
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'A failed payment stays in the reservation.',
    file: 'actors/intent/machine.ts',
    text:
      "          target: 'failed',\n" +
      "          actions: ['recordRefusal', 'releaseFailed', 'releaseLimits', " +
      "'publishFailed'],",
    replacement:
      "          target: 'failed',\n" +
      "          actions: ['recordRefusal', 'releaseLimits', 'publishFailed'],",
    test: 'test/processor/intent_scenarios',
  },
  {
    fault: 'A captured payment has no event.',
    file: 'actors/intent/machine.ts',
    text: "actions: ['recordTransaction', 'settle', 'publishCaptured']",
    replacement: "actions: ['recordTransaction', 'settle']",
    test: 'test/processor/intent_scenarios',
  },
  {
    fault: 'A held intent is submitted again when the rail does not know it.',
    file: 'actors/submission.ts',
    text: "notFound: { guard: 'isNotHeld', actions: 'instruct' }",
    replacement: "notFound: { actions: 'instruct' }",
    test: 'test/processor/recovery/orphan_intents',
  },
  {
    fault: 'A submitted intent is cancelled.',
    file: 'actors/intent/machine.ts',
    text: "guard: 'isNotSubmitted',\n" + "          target: 'cancelled'",
    replacement: "target: 'cancelled'",
    test: 'test/processor/intent_scenarios',
  },
  {
    fault: 'A payout that the bank returns stays completed.',
    file: 'actors/payout/machine.ts',
    text:
      "          target: 'reversed',\n" +
      "          actions: ['recordReturn', 'refund', 'publishReversed'],",
    replacement: "          actions: ['recordReturn', 'refund', 'publishReversed'],",
    test: 'test/processor/payout_scenarios',
  },
  {
    fault: 'A rejected payout keeps its reservation.',
    file: 'actors/payout/machine.ts',
    text:
      '        reject: {\n' +
      "          target: 'failed',\n" +
      "          actions: ['recordRejection', 'release', 'publishFailed'],",
    replacement:
      '        reject: {\n' +
      "          target: 'failed',\n" +
      "          actions: ['recordRejection', 'publishFailed'],",
    test: 'test/processor/payout_review',
  },
  {
    fault: 'Inquiries about an unknown outcome end after the last interval.',
    file: 'actors/rail_inquiry.ts',
    text: '(inquiries - INQUIRE_AFTER_MS.length + 1) * DAY',
    replacement: '1000 * DAY',
    test: 'test/processor/payout_scenarios',
  },
]
