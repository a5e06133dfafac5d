/** Faults of the area `second_operator`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const SECOND_OPERATOR: readonly Mutant[] = [
  ...faultsIn('src/processor/commands/operators/route_set.ts', 'processor/approvals', {
    'A second operator approves a route whose terms are not shown.': [
      "subject: `${tenant ?? 'all'} ${terms}`",
      "subject: `${tenant ?? 'all'} ${country} ${currency}`",
    ],
  }),
  ...faultsIn('src/processor/changes/second_operator.ts', 'processor/second_operator', {
    'Amounts of one operator are not added up.': [
      'memory.singleHanded.of(operator, moved, now) + minor',
      'minor',
    ],
    'An operation that always needs two needs one.': [
      'if (moved === null) return true',
      'if (moved === null) return false',
    ],
    'A sum of exactly the bound needs one operator.': [
      'return sum >= (secondOperator',
      'return sum > (secondOperator',
    ],
    'A looser route needs one operator.': ['isHigher(before.reviewFrom, after.reviewFrom) ||', ''],
    'A key of production is shown to one operator.': [
      "environmentOf(tenant) === 'production'",
      "environmentOf(tenant) === 'sandbox'",
    ],
    'A rate may change by any amount.': [
      'changeBps(before, after) > USUAL_CHANGE_BPS',
      'changeBps(before, after) > 99_999_999n',
    ],
  }),
]
