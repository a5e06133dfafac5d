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
  type Stage,
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

export type Request = (lifecycle: Lifecycle) => Promise<Answer>

export type Row = readonly [
  name: string,
  /** The prior state. */
  given: Stage,
  request: Request,
  says: Refusal | Success,
  options?: LifecycleOptions,
]

export type Table = (world: World) => readonly Row[] | Promise<readonly Row[]>

export const refusal = (code: ErrorCode, status: number): Refusal => ({ code, status })
export const becomes = (then: string): Success => ({ code: 'ok', then })

export const UNAUTHENTICATED = refusal('authentication_failed', 401)
export const NOT_FOUND = refusal('payment_intent_not_found', 404)
export const UNSATISFIED = refusal('attestation_not_satisfied', 403)
export const SUSPENDED = refusal('partner_suspended', 403)
export const CONFLICT = refusal('idempotency_conflict', 409)

const UNKNOWN = { id: 'pi_00000000000000000000000000' }
const OTHER_TENANT = { tenant: 'other_sandbox' as TenantId }
export const ANOTHER_TOKEN = { session_jti: 'token-2' }
export const UNVERIFIED = { kyc_attestation: { ...anIntent().kyc_attestation!, verified: false } }
export const UNCLEAN = {
  sanctions_attestation: { ...anIntent().sanctions_attestation!, clean: false },
}

/** As it was created. */
export const created: Stage = () => Promise.resolve()

export const inTurn =
  (...stages: readonly Stage[]): Stage =>
  async (lifecycle) => {
    for (const stage of stages) await stage(lifecycle)
  }

/** The same request in several states. */
export const at = (
  given: Readonly<Record<string, Stage>>,
  request: Request,
  says: Row[3],
): readonly Row[] => Object.entries(given).map(([name, stage]) => [name, stage, request, says])

/** The request about an intent that the caller does not have. */
export const ofOthers = (request: Request, says: Refusal, given = created): readonly Row[] => [
  ['unknown', given, (lifecycle) => request(lifecycle.as(UNKNOWN)), says],
  ["another tenant's", given, (lifecycle) => request(lifecycle.as(OTHER_TENANT)), says],
]

export const CLOSING = 'closing'
/** Sends the request while that partner is changed. */
const whileClosing =
  (over: Parameters<typeof openTenant>[2]) =>
  (request: Request): Request =>
  async (lifecycle) => {
    await openTenant(lifecycle.world, CLOSING, over)
    const answer = await request(lifecycle)
    await openTenant(lifecycle.world, CLOSING, {})
    return answer
  }
export const suspended = whileClosing({ suspended: true })

export const NOT_ENABLED = refusal('corridor_not_enabled', 403)
export const withoutCorridor = whileClosing({ corridors: ['vn_vietqr'] })

export const ENDED = { captured, failed, refunded, cancelled, expired } as const
