/**
 * One row of an intent command table: the prior state, the request, the expected code and the final
 * state.
 *
 * Owns: rows and shared expectations. Does not own: checking a row (intent_tables.test.ts), intent
 * stages (intent_lifecycle.ts).
 */
import type { ErrorCode } from '../../../src/base/errors.js'
import type { TenantId } from '../../../src/base/ids.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { anIntent } from '../../support/requests.js'
import type { World } from '../../support/world.js'
import {
  cancelled,
  captured,
  expired,
  failed,
  openTenant,
  refunded,
  type Lifecycle,
  type LifecycleOptions,
} from '../intent_lifecycle.js'

export interface Refusal {
  readonly code: ErrorCode
  readonly status: number
}
export interface Success {
  readonly code: 'ok'
  /** The final state. */
  readonly then: string
}

export type Row = (Refusal | Success) & {
  readonly name: string
  readonly options?: LifecycleOptions
  /** The prior state. */
  readonly given?: (lifecycle: Lifecycle) => unknown
  readonly request: (lifecycle: Lifecycle) => Promise<Answer>
}

export type Table = (world: World) => readonly Row[] | Promise<readonly Row[]>

export const refusal = (code: ErrorCode, status: number): Refusal => ({ code, status })
export const becomes = (then: string): Success => ({ code: 'ok', then })

export const UNAUTHENTICATED = refusal('authentication_failed', 401)
export const NOT_FOUND = refusal('payment_intent_not_found', 404)
export const UNSATISFIED = refusal('attestation_not_satisfied', 403)
export const SUSPENDED = refusal('partner_suspended', 403)
export const CONFLICT = refusal('idempotency_conflict', 409)

export const UNKNOWN = { id: 'pi_00000000000000000000000000' }
export const OTHER_TENANT = { tenant: 'other_sandbox' as TenantId }
export const ANOTHER_TOKEN = { session_jti: 'token-2' }
export const UNVERIFIED = { kyc_attestation: { ...anIntent().kyc_attestation!, verified: false } }
export const UNCLEAN = {
  sanctions_attestation: { ...anIntent().sanctions_attestation!, clean: false },
}

/** The same request in several states. */
export const at = (
  given: Readonly<Record<string, Row['given']>>,
  row: Omit<Refusal & Row, 'name' | 'given'>,
): Row[] =>
  Object.entries(given).map(([name, given]) => ({ name, ...(given && { given }), ...row }))

export const CLOSING = 'closing'
/** Sends the request while that partner is suspended. */
export const suspended =
  (request: Row['request']): Row['request'] =>
  async (lifecycle) => {
    await openTenant(lifecycle.world, CLOSING, { suspended: true })
    const answer = await request(lifecycle)
    await openTenant(lifecycle.world, CLOSING, {})
    return answer
  }

export const NOT_ENABLED = refusal('corridor_not_enabled', 403)
/** Sends the request while that partner lacks the corridor. */
export const withoutCorridor =
  (request: Row['request']): Row['request'] =>
  async (lifecycle) => {
    await openTenant(lifecycle.world, CLOSING, { corridors: ['vn_vietqr'] })
    const answer = await request(lifecycle)
    await openTenant(lifecycle.world, CLOSING, {})
    return answer
  }

export const ENDED = { captured, failed, refunded, cancelled, expired } as const
