/**
 * The unary gRPC services of internal callers; each call runs the same command as its partner
 * route.
 */
import type { PaymentIntentsHandlers } from '../../../protos/types/causeway/v1/PaymentIntents.js'
import type { PayoutsHandlers } from '../../../protos/types/causeway/v1/Payouts.js'
import type { Tenant__Output as Tenant } from '../../../protos/types/causeway/v1/Tenant.js'
import { INTENT_IDEMPOTENCY_KEY_MAX, PARTNER_USER_ID_MAX } from '../../base/constants.js'
import type { TenantId } from '../../base/ids.js'
import { isWithin } from '../../base/text.js'
import type { Command } from '../cycle/command.js'
import { getBalances } from '../commands/funds/balances_get.js'
import { cancelIntent } from '../commands/intents/intent_cancel.js'
import { createIntent } from '../commands/intents/intent_create.js'
import { getIntent } from '../commands/intents/intent_get.js'
import { refundIntent } from '../commands/intents/intent_refund.js'
import { createPayout } from '../commands/payouts/payout_create.js'
import { getPayout } from '../commands/payouts/payout_get.js'
import { listPayouts } from '../queries/payout_list.js'
import { tenantIn, unary, unaryQuery, type UnaryDependencies } from './unary_handler.js'
import { listByUser } from './user_intent_calls.js'

export function internalServices(dependencies: UnaryDependencies): {
  intents: PaymentIntentsHandlers
  payouts: PayoutsHandlers
} {
  const forTenant = (
    named: Tenant | null,
    commandOf: (tenant: TenantId) => Command | null,
  ): { queueKey: TenantId; command: Command } | null => {
    const tenant = tenantIn(dependencies.memory, named)
    const command = tenant === null ? null : commandOf(tenant)
    return tenant === null || command === null ? null : { queueKey: tenant, command }
  }

  return {
    intents: {
      Create: unary(dependencies, ({ tenant, intent }) =>
        forTenant(tenant, (t) =>
          intent !== null &&
          isAbsentOrWithin(intent.partner_user_id, PARTNER_USER_ID_MAX) &&
          isAbsentOrWithin(intent.idempotency_key, INTENT_IDEMPOTENCY_KEY_MAX)
            ? createIntent(t, intent)
            : null,
        ),
      ),
      Get: unary(dependencies, ({ tenant, intent_id }) =>
        forTenant(tenant, (t) => getIntent(t, intent_id)),
      ),
      Cancel: unary(dependencies, ({ tenant, intent_id }) =>
        forTenant(tenant, (t) => cancelIntent(t, intent_id)),
      ),
      Refund: unary(dependencies, ({ tenant, refund }) =>
        forTenant(tenant, (t) =>
          refund !== null && isAbsentOrWithin(refund.idempotency_key, INTENT_IDEMPOTENCY_KEY_MAX)
            ? refundIntent(t, refund.intent_id, refund.idempotency_key ?? null)
            : null,
        ),
      ),
      ListByUser: listByUser(dependencies),
    },
    payouts: {
      Create: unary(dependencies, ({ tenant, payout }) =>
        forTenant(tenant, (t) => (payout === null ? null : createPayout(t, payout))),
      ),
      Get: unary(dependencies, ({ tenant, payout_id }) =>
        forTenant(tenant, (t) => getPayout(t, payout_id)),
      ),
      List: unaryQuery(dependencies, ({ tenant: named, list }) => {
        const tenant = tenantIn(dependencies.memory, named)
        return tenant === null || list === null ? null : listPayouts(tenant, list)
      }),
      Balances: unary(dependencies, ({ tenant }) => forTenant(tenant, (t) => getBalances(t))),
    },
  }
}

/** Absent, or a non-empty text within the limit. */
const isAbsentOrWithin = (text: string | undefined, most: number): boolean =>
  text === undefined || (text !== '' && isWithin(text, most))
