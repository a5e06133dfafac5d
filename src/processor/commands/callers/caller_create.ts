/**
 * Creates a caller of gRPC, with a token or for a client certificate.
 *
 * - The token is shown only in this answer; its digest is stored.
 * - An operator with the role `decide` could create another one and approve its own requests with
 *   it, so creating one needs a second operator.
 */
import { isCallerName, OPERATOR_ROLES, type OperatorRole } from '../../../auth/caller.js'
import { newCallerToken, tokenDigest } from '../../../auth/caller_token.js'
import type { Callers, StoredCaller } from '../../../auth/callers.js'
import type { PartnerId } from '../../../base/ids.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { callerNamed, callerView, stageCaller } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

export interface NewCaller {
  readonly name: string
  readonly kind: string
  readonly roles: readonly string[]
  readonly partners: readonly string[]
  readonly certificate?: string
}

/** Others exist only by configuration: the supervisor's own, and those of the rail. */
const KINDS = ['operator', 'service', 'gateway', 'webhooks'] as const
const CERTIFICATE_NAME = /^[^\s]{1,255}$/

export function createCaller(actor: Actor, callers: Callers, given: NewCaller): Command {
  return {
    name: 'create_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const kind = KINDS.find((known) => known === given.kind)
      const roles = rolesIn(given)
      const { name, partners, certificate = null } = given
      if (kind === undefined || roles === null || !isCallerName(name)) {
        return refuse('invalid_request')
      }
      if (partners.length > 0 && kind !== 'service') return refuse('invalid_request')
      const isUnknown = partners.some((id) => !ctx.memory.partners.has(id as PartnerId))
      if (isUnknown) return refuse('partner_not_found')
      if (certificate !== null && !CERTIFICATE_NAME.test(certificate)) {
        return refuse('invalid_request')
      }
      if (callerNamed(ctx, callers, name) !== undefined) return refuse('caller_exists')
      if (roles.includes('decide')) {
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'create_caller',
          arguments: { name, kind, roles, partners, certificate },
          subject: [kind, name, ...roles].join(' '),
          funds: null,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const token = certificate === null ? newCallerToken(kind, ctx.random) : null
      const stored: StoredCaller = {
        caller: { name, kind, roles, partners: partners.length === 0 ? null : partners },
        certificate,
        tokens:
          token === null ? [] : [{ digest: tokenDigest(token), createdAt: ctx.now, endsAt: null }],
        createdAt: ctx.now,
        revokedAt: null,
      }
      stageCaller(ctx, stored)
      logAction(ctx, actor, 'create_caller', `${kind} ${[name, ...roles, ...partners].join(' ')}`)
      return answer({
        caller: callerView(stored, callers),
        ...(token === null ? {} : { token }),
      })
    },
  }
}

/** Null: an operator needs a role, others have none. */
function rolesIn({ kind, roles }: NewCaller): readonly OperatorRole[] | null {
  const known = OPERATOR_ROLES.filter((role) => roles.includes(role))
  if (known.length !== new Set(roles).size) return null
  return (kind === 'operator') === known.length > 0 ? known : null
}
