/** Faults of the area `second_operator`. */
import type { Mutant } from '../mutant.js'

export const SECOND_OPERATOR: readonly Mutant[] = [
  {
    fault: 'Amounts of one operator are not added up.',
    file: 'src/processor/changes/second_operator.ts',
    text: 'memory.singleHanded.of(operator, moved, now) + minor',
    replacement: 'minor',
    test: 'test/processor/second_operator',
  },
  {
    fault: 'An operation that always needs two needs one.',
    file: 'src/processor/changes/second_operator.ts',
    text: 'if (moved === null) return true',
    replacement: 'if (moved === null) return false',
    test: 'test/processor/second_operator',
  },
  {
    fault: 'A sum of exactly the bound needs one operator.',
    file: 'src/processor/changes/second_operator.ts',
    text: 'return sum >= (secondOperator',
    replacement: 'return sum > (secondOperator',
    test: 'test/processor/second_operator',
  },
  {
    fault: 'A looser route needs one operator.',
    file: 'src/processor/changes/second_operator.ts',
    text: 'isHigher(before.reviewFrom, after.reviewFrom) ||',
    replacement: '',
    test: 'test/processor/second_operator',
  },
  {
    fault: 'A key of production is shown to one operator.',
    file: 'src/processor/changes/second_operator.ts',
    text: "environmentOf(tenant) === 'production'",
    replacement: "environmentOf(tenant) === 'sandbox'",
    test: 'test/processor/second_operator',
  },
  {
    fault: 'A rate may change by any amount.',
    file: 'src/processor/changes/second_operator.ts',
    text: 'changeBps(before, after) > USUAL_CHANGE_BPS',
    replacement: 'changeBps(before, after) > 99_999_999n',
    test: 'test/processor/second_operator',
  },
]
