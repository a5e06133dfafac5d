/** Faults of the area `rails`: rails by route, pauses of submissions, screening. */
import type { Mutant } from '../mutant.js'

const BY_ROUTE = 'test/processor/rails_by_route'
const FILE = 'test/rails/rails_file'
const SCREENING = 'test/processor/screening'

export const RAILS: readonly Mutant[] = [
  {
    fault: 'A rail carries routes of an environment that is not its own.',
    file: 'src/rails/rail_table.ts',
    text: 'environments.some((environment) => environment === route.slice(0, slash))',
    replacement: 'environments.length > 0',
    test: FILE,
  },
  {
    fault: 'A sandbox rail carries production without being allowed to.',
    file: 'src/rails/rails_file.ts',
    text: 'sandbox !== true || !isProduction || mayCarryProduction',
    replacement: 'true',
    test: FILE,
  },
  {
    fault: 'An open payment goes to the rail that its route has now.',
    file: 'src/processor/changes/payment_rail.ts',
    text: 'isIntent(context) ? context.confirmation?.rail : context.rail',
    replacement: 'undefined',
    test: BY_ROUTE,
  },
  {
    fault: 'Another rail takes the place of a chosen one that does not carry the route.',
    file: 'src/processor/changes/payment_rail.ts',
    text: 'rules.rails.carries(chosen.rail, route) ? chosen.rail : null',
    replacement:
      'rules.rails.carries(chosen.rail, route) ? chosen.rail : rules.rails.defaultOf(route)',
    test: BY_ROUTE,
  },
  {
    fault: 'A rail that is down takes new payments.',
    file: 'src/processor/changes/payment_rail.ts',
    text: ' || ctx.rails.downForMs(rail) > RAIL_OUTAGE_MS',
    replacement: '',
    test: BY_ROUTE,
  },
  {
    fault: 'A route gets a rail that does not carry it.',
    file: 'src/processor/commands/operators/route_rail_set.ts',
    text: "if (!ctx.rules.rails.carries(rail, route)) return refuse('rail_does_not_carry')",
    replacement: '',
    test: BY_ROUTE,
  },
  {
    fault: 'A pause of a corridor stops nothing.',
    file: 'src/processor/changes/submission_pauses.ts',
    text: 'pauses.has(`corridor ${route.slice(slash + 1)}`)',
    replacement: 'false',
    test: BY_ROUTE,
  },
  {
    fault: 'The decision of another question counts.',
    file: 'src/processor/changes/screening.ts',
    text: 'screening !== null && screening.id === idOf()',
    replacement: 'screening !== null',
    test: SCREENING,
  },
  {
    fault: 'The question of a key does not cover what is paid.',
    file: 'src/processor/commands/payouts/payout_create.ts',
    text: 'screeningId(ctx, [rowKey, requestHashOf(ctx)])',
    replacement: 'screeningId(ctx, [rowKey])',
    test: SCREENING,
  },
  {
    fault: 'A payout without an answer of the screening service is paid.',
    file: 'src/processor/commands/payouts/payout_check.ts',
    text: 'const isReviewed = isUnscreened || ',
    replacement: 'const isReviewed = ',
    test: SCREENING,
  },
  {
    fault: 'A confirm without an answer of the screening service is paid.',
    file: 'src/processor/commands/intents/intent_confirm.ts',
    text: 'const verdict = verdictOn(ctx, () => screeningIdOf(ctx, quote))',
    replacement:
      'const found = verdictOn(ctx, () => screeningIdOf(ctx, quote))\n' +
      "      const verdict = found === 'unavailable' ? 'pass' : found",
    test: SCREENING,
  },
  {
    fault: 'An unknown decision of the screening service passes.',
    file: 'src/screening/client.ts',
    text: "return { outcome: 'malformed', reason: 'an unknown decision' }",
    replacement: "return { outcome: 'pass', reason: null }",
    test: SCREENING,
  },
  {
    fault: 'Requests with one key are screened at once.',
    file: 'src/processor/cycle/screened_pipeline.ts',
    text: '    await before\n',
    replacement: '    void before\n',
    test: SCREENING,
  },
  {
    fault: 'A repeated key is asked about again, and can get another decision.',
    file: 'src/screening/recent_decisions.ts',
    text: 'decisions.get(id) ?? (await service.ask(request))',
    replacement: 'await service.ask(request)',
    test: SCREENING,
  },
  {
    fault: 'A refused instruction that is sent again is carried out.',
    file: 'src/rails/adapter/journal_batch.ts',
    text: 'if (first === undefined) {',
    replacement: "if (first === undefined || first.state === 'refused') {",
    test: 'test/rails/sandbox',
  },
]
