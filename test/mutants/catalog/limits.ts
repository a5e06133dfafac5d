/** Faults of the area `limits`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const LIMITS: readonly Mutant[] = [
  ...faultsIn('src/processor/cycle/pipeline.ts', 'processor/pipeline', {
    'A full queue takes more commands.': [
      'QUEUE_MAX - metrics.waiting()',
      'QUEUE_MAX * 1000 - metrics.waiting()',
    ],
    'A tenant fills the queue for the others.': [
      'queue.count(queueKey) >= QUEUE_MAX - metrics.waiting()',
      'metrics.waiting() >= QUEUE_MAX',
    ],
    'A command is decided after its deadline.': ['ctx.now > work.deadline', 'ctx.now < 0'],
    'Writes are accepted below the reserve of disk space.': [
      'if (dependencies.diskIsLow() && isWriteOfPartner(work)) {',
      'if (dependencies.diskIsLow() && !isWriteOfPartner(work)) {',
    ],
    'A batch gathers without a bound.': [
      'gathering.changes >= COMMIT_BATCH_CHANGES_MAX',
      'gathering.changes < 0',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/partners', {
    'A suspended partner pays out.': [
      "if (isSuspended(ctx.memory, tenant)) return refused('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/routes', {
    'A disabled route is used.': ['if (!route?.enabled) return', 'if (!route) return'],
    'The smallest amount of a route is not checked.': [
      'amount >= (amountMin ?? amount) && amount',
      'amount',
    ],
    'The largest amount of a route is not checked.': [' && amount <= (amountMax ?? amount)', ''],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/beneficiaries', {
    'A disabled beneficiary is paid.': [' || !takesPayouts(known)', ''],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/payout_scenarios', {
    'A payout is accepted that the balance does not cover.': [
      "if (!canPostPayout(ctx, context, 'payout_accepted')) return " +
        "refused('insufficient_balance')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', 'processor/payout_decisions', {
    'A payout of exactly the review amount is paid without a review.': [
      'reviewFrom !== null && amount >= reviewFrom',
      'reviewFrom !== null && amount > reviewFrom',
    ],
  }),
  ...faultsIn('src/limits/usage.ts', 'limits/usage', {
    'The day ends at midnight UTC.': ['plus(at, CORRIDORS[corridor].utcOffsetMs)', 'plus(at, 0)'],
    'The daily limit may be exceeded by one payment.': [
      'used.day + amount > caps.perDay',
      'used.day > caps.perDay',
    ],
    'The monthly limit is not checked.': [
      "if (used.month + amount > caps.perMonth) return 'per_month'\n",
      '',
    ],
    'Users of two tenants share their limits.': [
      'JSON.stringify([tenant, userId, corridor])',
      'JSON.stringify([userId, corridor])',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_scan.ts', 'processor/partners', {
    'A suspended partner scans.': [
      "if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_create.ts', 'processor/partners', {
    'A suspended partner creates intents.': [
      'partner === undefined || partner.suspended',
      'partner === undefined',
    ],
  }),
  ...faultsIn('src/processor/commands/beneficiaries/beneficiary_create.ts', 'processor/partners', {
    'A suspended partner creates beneficiaries.': [
      "if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/funds/fx_quote_create.ts', 'processor/partners', {
    'A suspended partner gets FX quotes.': [
      "if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/funds/fx_conversion_create.ts', 'processor/partners', {
    'A suspended partner converts.': [
      "if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/funds/sandbox_deposit.ts', 'processor/partners', {
    'A suspended partner deposits.': [
      "if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_remint.ts', 'processor/partners', {
    'A suspended partner gets further session tokens.': [
      "live.state === 'created' && isSuspended(memory, tenant)",
      'false',
    ],
    'A suspended partner gets no token to poll with.': [
      "live.state === 'created' && isSuspended(memory, tenant)",
      'isSuspended(memory, tenant)',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_confirm.ts', 'processor/intent_tables', {
    'A user above the limits confirms.': [
      "if (limit !== 'within') return",
      "if (limit === 'per_month') return",
    ],
    'A confirm is accepted that the balance does not cover.': [
      "canPostIntent(ctx, context, 'intent_confirmed') ? null : " + "'insufficient_balance'",
      'null',
    ],
    'The same code is paid twice within a minute.': [
      '    !quote.acknowledgedDuplicate &&\n',
      '    quote.acknowledgedDuplicate &&\n',
    ],
    'A suspended partner confirms.': [
      "partner === undefined || partner.suspended) return 'partner_suspended'",
      "partner === undefined) return 'partner_suspended'",
    ],
    'A corridor that was taken from the partner is paid.': [
      'if (!hasCorridor(memory, context.tenant, context.corridor)) return ' +
        "'corridor_not_enabled'",
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_scan.ts', 'processor/intent_tables', {
    'An amount below the minimum is scanned.': [
      'if (bound.minor < caps.minimum) return',
      'if (bound.minor < 0n) return',
    ],
    'A consumed token scans.': [
      'if (context.confirmation?.jti === request.session_jti) return ' +
        "refuse('authentication_failed')",
      '',
    ],
  }),
  ...faultsIn('src/processor/cycle/rules.ts', 'processor/rules', {
    'The window of double scans is in milliseconds.': [
      'given.DUPLICATE_SCAN_WINDOW_S * SECOND',
      'given.DUPLICATE_SCAN_WINDOW_S',
    ],
    'Limits of users are in satang, and a hundredth.': ['BigInt(baht) * 100n', 'BigInt(baht)'],
  }),
  ...faultsIn('src/processor/commands/funds/fx_quote_create.ts', 'processor/funds', {
    'A conversion ignores the spread.': [
      'applySpread(rate, ctx.rules.spreadBps)',
      'applySpread(rate, 0)',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_scan.ts', 'processor/funds', {
    'A scan ignores the spread.': ['spreadBps: ctx.rules.spreadBps', 'spreadBps: 0'],
  }),
  ...faultsIn('src/processor/commands/retention/payments_archive.ts', 'processor/archive', {
    'Limit counters of an archived payment stay in the books.': [
      'uncount(ctx, memory.intents.get(id))\n',
      '\n',
    ],
  }),
]
