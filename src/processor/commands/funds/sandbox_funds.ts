/**
 * What a new sandbox partner finds on its balances: USD 10,000,000.00, THB 10,000,000.00, VND
 * 1,000,000,000.
 */
import { THB, USD, VND } from '../../../money/currency.js'
import { money, type Money } from '../../../money/money.js'

export const SANDBOX_FUNDS: readonly Money[] = [
  money(USD, 10_000_000_00n),
  money(THB, 10_000_000_00n),
  money(VND, 1_000_000_000n),
]
