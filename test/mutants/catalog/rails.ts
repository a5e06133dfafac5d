/** Faults of the area `rails`: rails by route, pauses of submissions, screening. */
import { faultsIn, type Mutant } from '../mutant.js'

const BY_ROUTE = 'processor/rails_by_route'
const FILE = 'rails/rails_file'
const SCREENING = 'processor/screening'

export const RAILS: readonly Mutant[] = [
  ...faultsIn('src/rails/rail_table.ts', FILE, {
    'A rail carries routes of an environment that is not its own.': [
      'environments.some((environment) => environment === route.slice(0, slash))',
      'environments.length > 0',
    ],
  }),
  ...faultsIn('src/rails/rails_file.ts', FILE, {
    'A sandbox rail carries production without being allowed to.': [
      'sandbox !== true || !isProduction || mayCarryProduction',
      'true',
    ],
  }),
  ...faultsIn('src/processor/changes/payment_rail.ts', BY_ROUTE, {
    'An open payment goes to the rail that its route has now.': [
      'isIntent(context) ? context.confirmation?.rail : context.rail',
      'undefined',
    ],
    'Another rail takes the place of a chosen one that does not carry the route.': [
      'rules.rails.carries(chosen.rail, route) ? chosen.rail : null',
      'rules.rails.carries(chosen.rail, route) ? chosen.rail : rules.rails.defaultOf(route)',
    ],
    'A rail that is down takes new payments.': [
      ' || ctx.rails.downForMs(rail) > RAIL_OUTAGE_MS',
      '',
    ],
  }),
  ...faultsIn('src/processor/commands/operators/route_rail_set.ts', BY_ROUTE, {
    'A route gets a rail that does not carry it.': [
      "if (!ctx.rules.rails.carries(rail, route)) return refuse('rail_does_not_carry')",
      '',
    ],
  }),
  ...faultsIn('src/processor/changes/submission_pauses.ts', BY_ROUTE, {
    'A pause of a corridor stops nothing.': [
      'pauses.has(`corridor ${route.slice(slash + 1)}`)',
      'false',
    ],
  }),
  ...faultsIn('src/processor/changes/screening.ts', SCREENING, {
    'The decision of another question counts.': [
      'screening !== null && screening.id === idOf()',
      'screening !== null',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_create.ts', SCREENING, {
    'The question of a key does not cover what is paid.': [
      'screeningId(ctx, [rowKey, requestHashOf(ctx)])',
      'screeningId(ctx, [rowKey])',
    ],
  }),
  ...faultsIn('src/processor/commands/payouts/payout_check.ts', SCREENING, {
    'A payout without an answer of the screening service is paid.': [
      'const isReviewed = isUnscreened || ',
      'const isReviewed = ',
    ],
  }),
  ...faultsIn('src/processor/commands/intents/intent_confirm.ts', SCREENING, {
    'A confirm without an answer of the screening service is paid.': [
      'const verdict = verdictOn(ctx, () => screeningIdOf(ctx, quote))',
      'const found = verdictOn(ctx, () => screeningIdOf(ctx, quote))\n' +
        "      const verdict = found === 'unavailable' ? 'pass' : found",
    ],
  }),
  ...faultsIn('src/screening/client.ts', SCREENING, {
    'An unknown decision of the screening service passes.': [
      "return { outcome: 'malformed', reason: 'an unknown decision' }",
      "return { outcome: 'pass', reason: null }",
    ],
  }),
  ...faultsIn('src/processor/commands/intents/token_commands.ts', SCREENING, {
    'The confirm of an internal service is not screened.': [
      "const { name, needs, screened } = commandOf('')",
      "const { name, needs } = commandOf('')\n  const screened = undefined as Command['screened']",
    ],
  }),
  ...faultsIn('src/processor/cycle/screened_pipeline.ts', SCREENING, {
    'A command that has lost its question passes.': ['    work.screening = null\n', ''],
    'Requests with one key are screened at once.': ['    await before\n', '    void before\n'],
    'One tenant takes all places of a slow service.': [
      'if (!open.mayTake(queueKey)) {',
      'if (open.held >= SCREENED_MAX) {',
    ],
  }),
  ...faultsIn('src/screening/recent_decisions.ts', SCREENING, {
    'A repeated key is asked about again, and can get another decision.': [
      'decisions.get(id) ?? (await service.ask(request))',
      'await service.ask(request)',
    ],
  }),
  ...faultsIn('src/rails/client.ts', 'rails/client', {
    'A rail that has lost its journal says what never arrived.': [
      'if (newestInstruction === null && before !== null) {',
      "if (newestInstruction === '' && before !== null) {",
    ],
    'A rail with an older journal says what never arrived.': [
      "if (answer.status !== 'not_found') {",
      "if (answer.status !== 'refused') {",
    ],
    'What an older journal reports is applied.': [
      'if (proof === undefined) deliver(own)',
      'if (proof !== null) deliver(own)',
    ],
    'A link opens before its reports have a handler.': [
      'waitsForHandler = reportHandler === undefined',
      'waitsForHandler = false',
    ],
  }),
  ...faultsIn('src/rails/adapter/journal_batch.ts', 'rails/sandbox', {
    'A refused instruction that is sent again is carried out.': [
      'if (first === undefined) {',
      "if (first === undefined || first.state === 'refused') {",
    ],
  }),
]
