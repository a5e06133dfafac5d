/** The operations of the partner API, in the order of the OpenAPI document, and their answers. */
import { ACCOUNT, ACCOUNT_ANSWERS } from './account.js'
import { BENEFICIARIES, BENEFICIARY_ANSWERS } from './beneficiaries.js'
import { DELIVERIES, DELIVERY_ANSWERS } from './deliveries.js'
import { ERROR_ANSWERS } from './error_answer.js'
import { EVENT_ANSWERS, EVENTS } from './events.js'
import { FUNDING, FUNDING_ANSWERS } from './funding.js'
import { INTENT_ANSWERS } from './intent_messages.js'
import { INTENTS } from './intents.js'
import type { AnyOperation, OperationName, OperationsOf } from './operation.js'
import { PAYOUT_ANSWERS, PAYOUTS } from './payouts.js'
import { LOCAL, SANDBOX, SANDBOX_ANSWERS } from './sandbox.js'
import type { Schema } from './schema.js'
import { UNITS } from './units.js'
import { WEBHOOK_ENDPOINT_ANSWERS, WEBHOOK_ENDPOINTS } from './webhook_endpoints.js'

export { LOCAL }

/** A command without an entry does not compile. */
const TYPED: OperationsOf<OperationName> = {
  ...INTENTS,
  ...BENEFICIARIES,
  ...PAYOUTS,
  ...FUNDING,
  ...WEBHOOK_ENDPOINTS,
  ...DELIVERIES,
  ...EVENTS,
  ...ACCOUNT,
  ...SANDBOX,
}

export const OPERATIONS: Readonly<Record<OperationName, AnyOperation>> = TYPED

/** The schemas of answers, by their names in the document. */
export const ANSWERS: Readonly<Record<string, Schema>> = {
  ...UNITS,
  ...INTENT_ANSWERS,
  ...BENEFICIARY_ANSWERS,
  ...PAYOUT_ANSWERS,
  ...FUNDING_ANSWERS,
  ...WEBHOOK_ENDPOINT_ANSWERS,
  ...EVENT_ANSWERS,
  ...DELIVERY_ANSWERS,
  ...ACCOUNT_ANSWERS,
  ...SANDBOX_ANSWERS,
  ...ERROR_ANSWERS,
}
