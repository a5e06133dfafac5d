/**
 * Commands that a session or receipt token authorizes, for internal services that hold the token
 * of a user. The gateway verifies tokens itself.
 *
 * - The checks and their order are those of the gateway: the token, its tenant and intent, the app
 *   package, a consumed token, the request.
 * - A command that is screened is screened here too, once its token is verified.
 */
import { verifyReceiptToken, verifySessionToken } from '../../../auth/token.js'
import type { Violation } from '../../../base/errors.js'
import { partsOfTenant, type TenantId } from '../../../base/ids.js'
import { refuse, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext, Screened } from '../../cycle/command.js'
import { getReceipt } from './intent_receipt.js'
import { checkSession } from './session_check.js'

export interface SessionProof {
  readonly intentId: string
  readonly token: string
  readonly appPackage: string | undefined
}

/**
 * @param commandOf the command; its needs and its order do not depend on the token
 * @param violation of the request, null if it is valid
 */
export function bySession(
  tenant: TenantId,
  proof: SessionProof,
  commandOf: (jti: string) => Command,
  violation: Violation | null,
): Command {
  const { name, needs, screened } = commandOf('')
  const command: Command = {
    name,
    needs,
    decide: (ctx) => {
      const jti = jtiOf(ctx, tenant, proof)
      if (jti === null) return refuse('authentication_failed')
      if (violation === null) return commandOf(jti).decide(ctx)
      const session = { intent_id: proof.intentId, session_jti: jti }
      return rejected(ctx, checkSession(tenant, session), violation)
    },
  }
  if (screened === undefined) return command
  const request: Screened['request'] = (ctx) => {
    const jti = violation === null ? jtiOf(ctx, tenant, proof) : null
    return jti === null ? null : (commandOf(jti).screened?.request(ctx) ?? null)
  }
  return { ...command, screened: { ...screened, request } }
}

function jtiOf(
  { memory, vault, now }: CommandContext,
  tenant: TenantId,
  { intentId, token, appPackage }: SessionProof,
): string | null {
  const verified = verifySessionToken(vault.verifyingKeys, token, now)
  if (!verified.ok) return null
  const { claims } = verified
  if (claims.tenant !== tenant || claims.intentId !== intentId) return null
  const packages = memory.partners.get(partsOfTenant(tenant).partner)?.packages ?? []
  const isAllowed = packages.length === 0 || packages.includes(appPackage ?? '')
  return isAllowed ? claims.jti : null
}

/** A consumed token takes precedence over the fault of the request. */
function rejected(ctx: CommandContext, check: Command, violation: Violation): Answer {
  const session = check.decide(ctx)
  return session.ok ? refuse('invalid_request', violation) : session
}

export function receiptByToken(tenant: TenantId, intentId: string, token: string): Command {
  const { name, needs } = getReceipt(tenant, intentId, '')
  return {
    name,
    needs,
    allowedInRecovery: true,
    decide: (ctx) => {
      const verified = verifyReceiptToken(ctx.vault.verifyingKeys, token, ctx.now)
      if (!verified.ok || verified.claims.tenant !== tenant) return refuse('authentication_failed')
      return getReceipt(tenant, intentId, verified.claims.subject).decide(ctx)
    },
  }
}
