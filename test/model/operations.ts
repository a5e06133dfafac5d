/** Operations on intents: what the model expects of each, and the processor's command for it. */
import type { Instant } from '../../src/base/clock.js'
import type { IntentId, TenantId } from '../../src/base/ids.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import * as receipts from '../../src/processor/commands/intents/intent_receipt.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { fireIntentTimer } from '../../src/processor/commands/rail_reports/timer_fire.js'
import type { Vault } from '../../src/processor/keys/vault.js'
import type { RailRefusal, RailReport } from '../../src/rails/rail.js'
import { anIntent } from '../support/requests.js'
import { DEMO } from '../support/world.js'
import { accepted, type Expectation, type Model, type ModelIntent } from './model.js'
import * as partner from './partner_rules.js'
import * as payer from './payer_rules.js'
import * as rail from './rail_rules.js'

export interface System extends Pick<Vault, 'receiptSubject'> {
  readonly owner: TenantId
  readonly now: Instant
}

export interface ModelOperation {
  readonly name: string
  /** The intent that it names. */
  readonly intent: ModelIntent | null
  /** Made before the model changes. */
  command(system: System): Command
  /** Changes the model. */
  expected(model: Model): Expectation
}

const OPERATOR = { name: 'test', reason: 'model' }
const UNKNOWN: IntentId = 'pi_00000000000000000000000000' as IntentId
const idOf = (intent: ModelIntent | null): IntentId => (intent?.id ?? UNKNOWN) as IntentId

function attested({ verified, clean }: partner.Attested) {
  const { kyc_attestation, sanctions_attestation } = anIntent()
  return {
    kyc_attestation: kyc_attestation && { ...kyc_attestation, verified },
    sanctions_attestation: sanctions_attestation && { ...sanctions_attestation, clean },
  }
}

export const create = (given: partner.Create): ModelOperation => ({
  ...{ name: 'create', intent: null },
  command: ({ owner }) =>
    createIntent(owner, {
      ...attested(given),
      partner_user_id: given.user,
      amount_usd_cents: given.cents,
      corridor: given.corridor,
      ...(given.key === null ? {} : { idempotency_key: given.key }),
    }),
  expected: (model) => partner.expectCreate(model, given),
})

/** An operation of the intent's owner or of another tenant. */
const onIntent =
  <Given extends partner.OnIntent>(
    name: string,
    expect: (model: Model, given: Given) => Expectation,
    commandOf: (tenant: TenantId, id: IntentId, given: Given, system: System) => Command,
  ) =>
  (given: Given): ModelOperation => ({
    ...{ name, intent: given.intent },
    command: (system) => {
      const tenant = given.by === 'owner' ? system.owner : DEMO
      return commandOf(tenant, idOf(given.intent), given, system)
    },
    expected: (model) => expect(model, given),
  })

export const remint = onIntent('remint', partner.expectRemint, (tenant, intent_id, given) =>
  remintSession(tenant, { ...attested(given), intent_id, partner_user_id: given.user }),
)
export const scan = onIntent('scan', payer.expectScan, (tenant, intent_id, given, { now }) => {
  const { jti, code, amount, acknowledged } = given
  const request = {
    ...{ intent_id, session_jti: jti, duplicate_confirmed: acknowledged },
    qr_payload: typeof code === 'string' ? code : code.payload,
    ...(amount === null ? {} : { local_amount_minor_units: amount }),
  }
  return scanIntent(tenant, request, now)
})
export const confirm = onIntent(
  'confirm',
  payer.expectConfirm,
  (tenant, intent_id, given, { now }) => {
    const { jti, key, quoteId, quoteVersion } = given
    const request = {
      ...{ intent_id, session_jti: jti },
      ...(key === null ? {} : { idempotency_key: key }),
      ...(quoteId === null ? {} : { quote_id: quoteId.id ?? '' }),
      ...(quoteVersion === null ? {} : { quote_version: quoteVersion }),
    }
    return confirmIntent(tenant, request, now)
  },
)
export const cancel = onIntent('cancel', partner.expectCancel, cancelIntent)
export const refund = onIntent('refund', partner.expectRefund, (tenant, id, { key }) =>
  refundIntent(tenant, id, key),
)
export const get = onIntent('get', partner.expectGet, getIntent)
export const mintReceipt = onIntent(
  'mint receipt',
  partner.expectReceiptToken,
  receipts.mintReceipt,
)
export const receipt = onIntent('receipt', partner.expectReceipt, (tenant, id, { user }, system) =>
  receipts.getReceipt(tenant, id, system.receiptSubject(user)),
)

export const timer = (intent: ModelIntent): ModelOperation => ({
  ...{ name: 'timer', intent },
  command: () => fireIntentTimer(idOf(intent)),
  expected: (model) => rail.expectTimer(model, intent),
})

export const rate = (currency: 'THB' | 'VND', text: string): ModelOperation => ({
  ...{ name: 'rate', intent: null },
  command: () => setRate(OPERATOR, currency, text, { force: true }),
  expected: (model) => {
    model.rates[currency] = text
    return accepted(() => ({}))
  },
})

export const report = (given: rail.Report): ModelOperation => ({
  ...{ name: 'report', intent: given.intent },
  command: () => applyRailReport(railReportOf(given), 0),
  expected: (model) => rail.expectReport(model, given),
})

function railReportOf({ intent, status, reportId, refusal, execution }: rail.Report): RailReport {
  const fields = { id: idOf(intent), reportId }
  if (status === 'refused') return { ...fields, status, refusal: refusal as RailRefusal }
  if (status !== 'executed' && status !== 'returned') return { ...fields, status }
  const { account, ...content } = execution
  return { ...fields, status, ...content, destinationAccount: account }
}
