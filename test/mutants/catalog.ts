/** The planted faults by area. */
import type { Mutant } from './mutant.js'
import { AUTHENTICATION } from './catalog/authentication.js'
import { DURABILITY } from './catalog/durability.js'
import { GATEWAY } from './catalog/gateway.js'
import { IDEMPOTENCY } from './catalog/idempotency.js'
import { ISO20022 } from './catalog/iso20022.js'
import { LEDGER } from './catalog/ledger.js'
import { LIFECYCLE } from './catalog/lifecycle.js'
import { LIMITS } from './catalog/limits.js'
import { POSTGRES } from './catalog/postgres.js'
import { RAILS } from './catalog/rails.js'
import { RECOVERY } from './catalog/recovery.js'
import { SECOND_OPERATOR } from './catalog/second_operator.js'
import { TENANCY } from './catalog/tenancy.js'
import { WEBHOOKS } from './catalog/webhooks.js'

export const CATALOG = {
  authentication: AUTHENTICATION,
  durability: DURABILITY,
  gateway: GATEWAY,
  idempotency: IDEMPOTENCY,
  iso20022: ISO20022,
  ledger: LEDGER,
  lifecycle: LIFECYCLE,
  limits: LIMITS,
  postgres: POSTGRES,
  rails: RAILS,
  recovery: RECOVERY,
  second_operator: SECOND_OPERATOR,
  tenancy: TENANCY,
  webhooks: WEBHOOKS,
} as const satisfies Readonly<Record<string, readonly Mutant[]>>

export type Area = keyof typeof CATALOG
