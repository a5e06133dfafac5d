/** The processor's commands of the operations. */
import { unreachable } from '../../src/base/assert.js'
import { instant } from '../../src/base/clock.js'
import type { IntentId, TenantId } from '../../src/base/ids.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { getReceipt, mintReceipt } from '../../src/processor/commands/intents/intent_receipt.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { fireIntentTimer } from '../../src/processor/commands/rail_reports/timer_fire.js'
import type { RailRefusal, RailReport } from '../../src/rails/rail.js'
import { anIntent } from '../support/requests.js'
import type { Vault } from '../../src/processor/keys/vault.js'
import { DEMO } from '../support/world.js'
import type {
  Caller,
  ConfirmOperation,
  ReportOperation,
  ModelOperation,
  ScanOperation,
} from './operations.js'

const OPERATOR = { name: 'test', reason: 'model' }
const UNKNOWN: IntentId = 'pi_00000000000000000000000000' as IntentId

/** @param now of the system's clock */
export function commandOf(
  owner: TenantId,
  operation: ModelOperation,
  now: number,
  { receiptSubject }: Pick<Vault, 'receiptSubject'>,
): Command {
  const tenantOf = (caller: Caller): TenantId => (caller === 'owner' ? owner : DEMO)
  switch (operation.kind) {
    case 'create':
      return createIntent(owner, {
        ...attested(operation.verified, operation.clean),
        partner_user_id: operation.user,
        amount_usd_cents: operation.cents,
        corridor: operation.corridor,
        ...(operation.key === null ? {} : { idempotency_key: operation.key }),
      })
    case 'remint':
      return remintSession(tenantOf(operation.by), {
        ...attested(operation.verified, operation.clean),
        intent_id: idOf(operation),
        partner_user_id: operation.user,
      })
    case 'scan':
      return scanIntent(tenantOf(operation.by), scanRequest(operation), instant(now))
    case 'confirm':
      return confirmIntent(tenantOf(operation.by), confirmRequest(operation), instant(now))
    case 'cancel':
      return cancelIntent(tenantOf(operation.by), idOf(operation))
    case 'refund':
      return refundIntent(tenantOf(operation.by), idOf(operation), operation.key)
    case 'get':
      return getIntent(tenantOf(operation.by), idOf(operation))
    case 'receipt':
      return getReceipt(tenantOf(operation.by), idOf(operation), receiptSubject(operation.user))
    case 'mintReceipt':
      return mintReceipt(tenantOf(operation.by), idOf(operation))
    case 'timer':
      return fireIntentTimer(idOf(operation))
    case 'report':
      return applyRailReport(reportOf(operation), 0)
    case 'rate':
      return setRate(OPERATOR, operation.currency, operation.rate, { force: true })
    default:
      return unreachable(operation)
  }
}

const idOf = ({ intent }: { readonly intent: { readonly id: string | null } | null }): IntentId =>
  (intent?.id ?? UNKNOWN) as IntentId

function attested(verified: boolean, clean: boolean) {
  const { kyc_attestation, sanctions_attestation } = anIntent()
  return {
    kyc_attestation: kyc_attestation && { ...kyc_attestation, verified },
    sanctions_attestation: sanctions_attestation && { ...sanctions_attestation, clean },
  }
}

function scanRequest(operation: ScanOperation): Parameters<typeof scanIntent>[1] {
  const { code, amount } = operation
  return {
    intent_id: idOf(operation),
    session_jti: operation.jti,
    qr_payload: typeof code === 'string' ? code : code.payload,
    duplicate_confirmed: operation.acknowledged,
    ...(amount === null ? {} : { local_amount_minor_units: amount }),
  }
}

function confirmRequest(operation: ConfirmOperation): Parameters<typeof confirmIntent>[1] {
  const { key, quoteId, quoteVersion } = operation
  return {
    intent_id: idOf(operation),
    session_jti: operation.jti,
    ...(key === null ? {} : { idempotency_key: key }),
    ...(quoteId === null ? {} : { quote_id: quoteId.id ?? '' }),
    ...(quoteVersion === null ? {} : { quote_version: quoteVersion }),
  }
}

function reportOf(report: ReportOperation): RailReport {
  const { status, reportId } = report
  const fields = { id: idOf(report), reportId }
  if (status === 'refused') return { ...fields, status, refusal: report.refusal as RailRefusal }
  if (status !== 'executed' && status !== 'returned') return { ...fields, status }
  const { account, ...execution } = report.execution
  return { ...fields, status, ...execution, destinationAccount: account }
}
