/**
 * Creates a caller of gRPC, with a token or for a client certificate.
 *
 * - The owner gives the digest of a token or the name of its certificate. Only without a second
 *   operator is a token made here; it is shown in this answer and its digest is stored.
 * - A new caller could approve the requests of its creator, pay or read secrets, so creating one
 *   needs a second operator, who must not learn the token.
 * - A credential belongs to one caller for good.
 * - In a cluster nothing is stored here: the answer has the setting, which every shard applies. In
 *   recovery mode settings wait, so these books store the caller themselves.
 */
import {
  CALLER_NAME_RULE,
  isCallerName,
  OPERATOR_ROLES,
  type OperatorRole,
} from '../../../auth/caller.js'
import { isTokenDigest, newCallerToken, tokenDigest } from '../../../auth/caller_token.js'
import type { Callers, StoredCaller } from '../../../auth/callers.js'
import { accepted, invalid } from '../../../base/errors.js'
import type { PartnerId } from '../../../base/ids.js'
import { isReadOnly, type Memory } from '../../cache/memory.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { callerNamed, callerView, isCredentialInUse, stageCaller } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { isGuardedCaller } from '../../changes/second_operator.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import { callerSetting } from './caller_setting.js'

export interface NewCaller {
  readonly name: string
  readonly kind: string
  readonly roles: readonly string[]
  readonly partners: readonly string[]
  readonly certificate?: string
  /** The digest of a token that the owner has made. */
  readonly tokenSha256?: string
  /** Those of its partners that other shards have. */
  readonly elsewhere?: readonly string[]
}

/** Others exist only by configuration: the supervisor's own, and those of the rail. */
const KINDS = ['operator', 'service', 'gateway', 'webhooks', 'console'] as const
const CERTIFICATE_NAME = /^[^\s]{1,255}$/

const INVALID_KIND = invalid('/kind', `must be one of ${KINDS.join(', ')}`)
const INVALID_NAME = invalid('/name', `must be ${CALLER_NAME_RULE}`)
const INVALID_ROLES = invalid('/roles', `must be one or more of ${OPERATOR_ROLES.join(', ')}`)
const ROLES_WITHOUT_OPERATOR = invalid('/roles', 'are for an operator only')
const PARTNERS_WITHOUT_SERVICE = invalid('/partners', 'are for a service only')
const TWO_CREDENTIALS = invalid('/token_sha256', 'excludes a certificate')
export const INVALID_DIGEST = invalid('/token_sha256', 'must be 64 lower-case hexadecimal digits')
const INVALID_CERTIFICATE = invalid('/certificate', 'must have 1 to 255 characters and no blanks')

export function createCaller(
  actor: Actor,
  callers: Callers,
  given: NewCaller,
  isShared = false,
): Command {
  return {
    name: 'create_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const kind = KINDS.find((known) => known === given.kind)
      const roles = rolesIn(given)
      const { name, partners, certificate = null, tokenSha256 = null } = given
      if (kind === undefined) return INVALID_KIND
      if (!isCallerName(name)) return INVALID_NAME
      if (roles === null) return kind === 'operator' ? INVALID_ROLES : ROLES_WITHOUT_OPERATOR
      if (partners.length > 0 && kind !== 'service') return PARTNERS_WITHOUT_SERVICE
      if (actor.approves === undefined && hasUnknownPartner(ctx.memory, given))
        return refuse('partner_not_found')
      const owned = credentialIn(certificate, tokenSha256)
      if (!owned.ok) return owned
      const credential = owned.value
      if (callerNamed(ctx, callers, name) !== undefined) return refuse('caller_exists')
      if (credential !== null && isCredentialInUse(ctx, callers, credential)) {
        return refuse('credential_in_use')
      }
      if (isGuardedCaller({ kind, roles })) {
        const { secondOperator } = ctx.rules
        if (secondOperator !== null && credential === null) {
          return refuse('owner_credential_required')
        }
        const owners = certificate ?? `sha256:${tokenSha256}`
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'create_caller',
          arguments: { name, kind, roles, partners, certificate, token_sha256: tokenSha256 },
          subject: [kind, name, ...roles, ...partners, owners].join(' '),
          moved: null,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      const token = credential === null ? newCallerToken(kind, ctx.random) : null
      const digest = token === null ? tokenSha256 : tokenDigest(token)
      const stored: StoredCaller = {
        caller: { name, kind, roles, partners: partners.length === 0 ? null : partners },
        certificate,
        tokens: digest === null ? [] : [{ digest, createdAt: ctx.now, endsAt: null }],
        createdAt: ctx.now,
        revokedAt: null,
      }
      const view = {
        caller: callerView(stored, callers),
        ...(token === null ? {} : { token }),
      }
      if (isShared && !isReadOnly(ctx.memory))
        return answer({ ...view, setting: callerSetting('create_caller', stored) })
      stageCaller(ctx, stored)
      logAction(ctx, actor, 'create_caller', `${kind} ${[name, ...roles, ...partners].join(' ')}`)
      return answer(view)
    },
  }
}

/** Partners are never removed, so an approval does not look again. */
const hasUnknownPartner = ({ partners: here }: Memory, given: NewCaller): boolean =>
  given.partners.some((id) => !here.has(id as PartnerId) && !given.elsewhere?.includes(id))

/** The owner's credential. Null if it has given none. */
function credentialIn(certificate: string | null, digest: string | null) {
  if (certificate !== null && digest !== null) return TWO_CREDENTIALS
  if (certificate !== null) {
    return CERTIFICATE_NAME.test(certificate) ? accepted({ certificate }) : INVALID_CERTIFICATE
  }
  return digest === null || isTokenDigest(digest)
    ? accepted(digest === null ? null : { digest })
    : INVALID_DIGEST
}

/** Null means that the role is missing or out of place: an operator needs one, others have none. */
function rolesIn({ kind, roles }: NewCaller): readonly OperatorRole[] | null {
  const known = OPERATOR_ROLES.filter((role) => roles.includes(role))
  if (known.length !== new Set(roles).size) return null
  return (kind === 'operator') === known.length > 0 ? known : null
}
