/** Faults of the area `lifecycle`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const LIFECYCLE: readonly Mutant[] = [
  ...faultsIn('src/processor/commands/intents/intent_confirm.ts', 'processor/intent_tables', {
    'An expired quote is confirmed.': [
      "if (hasExpired(quote.expiresAt, ctx.rules.quoteTtlMs, now)) return 'quote_expired'",
      '',
    ],
    'Another quote than the named one is confirmed.': [
      "if (!isBoundQuote(request, context)) return 'quote_changed'",
      '',
    ],
    'An intent is confirmed without a quote.': [
      "if (scanned === undefined) return 'quote_required'",
      'if (scanned === undefined) return null',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_scan.ts', 'processor/intent_tables', {
    'An expired intent is scanned.': [
      "live.state !== 'created' || ctx.now >= context.expiresAt",
      "live.state !== 'created'",
    ],
    'The version of a quote is not counted.': ['(context.scanned?.quote.version ?? 0) + 1', '1'],
    'A code of another corridor is scanned.': [
      'if (!read.ok) return refusedCode(read.reason)\n' + '      const client',
      "if (!read.ok) return refuse('configuration_error')\n" + '      const client',
    ],
  }),
  ...faultsIn(
    'src/processor/commands/rail_reports/rail_report_apply.ts',
    'processor/intent_resolve',
    {
      'A recall that is refused after a reversal is dropped.': [
        "if (payment.isReversedInRecall) return mismatch('recall_refused_after_reversal')",
        '',
      ],
      'A recall that was refused before a reversal contradicts it.': [
        ' && recall.refused !== true',
        '',
      ],
    },
  ),
  ...faultsIn(
    'src/processor/commands/rail_reports/rail_report_apply.ts',
    'processor/discrepancies',
    {
      'An execution of another amount completes the payment.': [
        'execution.amount === expected.amount &&',
        '',
      ],
      'An execution in another currency completes the payment.': [
        'execution.currency === expected.currency &&',
        '',
      ],
      'An execution to another account completes the payment.': [
        'execution.destinationAccount === expected.account &&',
        '',
      ],
      'An execution after the end moves the payment.': [
        "if (payment.state === 'ended') return [{ report, reason: " + "'executed_after_end' }]",
        "if (payment.state === 'ended') return NO_MISMATCH",
      ],
      'A second execution of a payment is taken for the first.': [
        'else if (isOtherExecution(payment, report)) return [{ report, reason: ' +
          "'executed_again' }]",
        '',
      ],
      'A refusal after the execution is ignored.': [
        "return mismatch('refused_after_execution')",
        'return NO_MISMATCH',
      ],
      'A report about an unknown instruction is ignored.': [
        'reason === null ? NO_MISMATCH : [{ report, reason }]',
        'NO_MISMATCH',
      ],
      'A report is not acknowledged.': [
        'if (reportId !== null) ctx.batch',
        "if (reportId === '') ctx.batch",
      ],
    },
  ),
  ...faultsIn(
    'src/processor/commands/rail_reports/rail_report_apply.ts',
    'processor/payout_scenarios',
    {
      'Not found counts before the finality window.': [
        'at < plus(payment.submittedAt, finalityWindowMs)',
        'at < payment.submittedAt',
      ],
    },
  ),
  ...faultsIn('actors/intent/machine.ts', 'processor/intent_scenarios', {
    'A failed payment stays in the reservation.': [
      "          target: 'failed',\n" +
        "          actions: ['recordRefusal', 'releaseFailed', 'releaseLimits', " +
        "'publishFailed'],",
      "          target: 'failed',\n" +
        "          actions: ['recordRefusal', 'releaseLimits', 'publishFailed'],",
    ],
    'A captured payment has no event.': [
      "actions: ['recordTransaction', 'settle', 'publishCaptured']",
      "actions: ['recordTransaction', 'settle']",
    ],
    'A submitted intent is cancelled.': [
      "guard: 'isNotSubmitted',\n" + "          target: 'cancelled'",
      "target: 'cancelled'",
    ],
  }),
  ...faultsIn('actors/submission.ts', 'processor/recovery/orphan_intents', {
    'A held intent is submitted again when the rail does not know it.': [
      "notFound: { guard: 'isNotHeld', actions: 'instruct' }",
      "notFound: { actions: 'instruct' }",
    ],
  }),
  ...faultsIn('actors/payout/machine.ts', 'processor/payout_scenarios', {
    'A payout that the bank returns stays completed.': [
      "          target: 'reversed',\n" +
        "          actions: ['recordReturn', 'refund', 'publishReversed'],",
      "          actions: ['recordReturn', 'refund', 'publishReversed'],",
    ],
  }),
  ...faultsIn('actors/payout/machine.ts', 'processor/payout_decisions', {
    'A rejected payout keeps its reservation.': [
      '        reject: {\n' +
        "          target: 'failed',\n" +
        "          actions: ['recordRejection', 'release', 'publishFailed'],",
      '        reject: {\n' +
        "          target: 'failed',\n" +
        "          actions: ['recordRejection', 'publishFailed'],",
    ],
  }),
  ...faultsIn('actors/rail_inquiry.ts', 'processor/payout_scenarios', {
    'Inquiries about an unknown outcome end after the last interval.': [
      '(inquiries - INQUIRE_AFTER_MS.length + 1) * DAY',
      '1000 * DAY',
    ],
  }),
]
