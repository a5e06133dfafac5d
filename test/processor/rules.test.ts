/** The rules of decisions, in their units, against a written table. */
import t from 'tap'
import { readSettings } from '../../src/settings/settings_reader.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'

const { rails: _, ...rules } = rulesOf(
  readSettings(
    {
      ...{ BRAND: 'Acme', SESSION_TTL_S: '61', QUOTE_TTL_S: '62', INTENT_TTL_S: '1801' },
      ...{ RAIL_SUBMIT_TTL_S: '64', REVIEW_TTL_S: '3665', DUPLICATE_SCAN_WINDOW_S: '66' },
      ...{ SPREAD_BPS: '67', RATE_LIMIT_PER_SECOND: '68', RATE_MAX_AGE_S: '3669' },
      ...{ TH_MINIMUM_SATANG: '101', TH_LIMIT_TRANSACTION_THB: '50001' },
      ...{ TH_LIMIT_DAY_THB: '200002', TH_LIMIT_MONTH_THB: '1000003', VN_MINIMUM_VND: '1001' },
      ...{ SECOND_OPERATOR_FROM: 'USD:100,THB:5000' },
    },
    '',
  ),
)

t.test('times are milliseconds, limits are minor units', async (t) => {
  t.strictSame(rules, {
    brand: 'Acme',
    sessionTtlMs: 61_000,
    quoteTtlMs: 62_000,
    intentTtlMs: 1_801_000,
    railSubmitTtlMs: 64_000,
    reviewTtlMs: 3_665_000,
    duplicateWindowMs: 66_000,
    spreadBps: 67,
    ratePerSecond: 68,
    rateMaxAgeMs: 3_669_000,
    caps: {
      th_promptpay: {
        minimum: 101n,
        perTransaction: 5_000_100n,
        perDay: 20_000_200n,
        perMonth: 100_000_300n,
      },
      vn_vietqr: {
        minimum: 1_001n,
        perTransaction: 5_000_000n,
        perDay: 10_000_000n,
        perMonth: 25_000_000n,
      },
    },
    secondOperator: new Map([
      ['USD', 100n],
      ['THB', 5_000n],
    ]),
  })
})

t.test('0 is no age of a rate', async (t) => {
  t.equal(rulesOf(readSettings({ RATE_MAX_AGE_S: '0' }, '')).rateMaxAgeMs, null)
})
