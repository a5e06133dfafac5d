/**
 * A caller as a setting for all shards: its stored form, and applying it in the books of a shard.
 *
 * - The setting has the whole caller, so the newest one of a name is all that a new shard needs.
 * - Applying it never fails. A caller that is revoked in these books stays revoked, a token that
 *   the setting lacks ends, and a credential of another caller is left out.
 */
import type { StoredCaller, StoredToken } from '../../../auth/callers.js'
import { sameText } from '../../../auth/mac.js'
import type { Instant } from '../../../base/clock.js'
import type { NewSetting } from '../../../store/cluster/settings.js'
import type { Row } from '../../../store/tables.js'
import { callerRow, storedCaller } from '../../cache/stored_callers.js'
import { stageCaller } from '../../changes/callers.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'

export const CALLER = 'caller'

type Action = 'create_caller' | 'rotate_caller' | 'revoke_caller'

interface CallerSetting {
  readonly action: Action
  readonly caller: Row<'callers'>
}

export const callerSetting = (
  action: Action,
  stored: StoredCaller,
): Pick<NewSetting, 'kind' | 'key' | 'value'> => {
  const value: CallerSetting = { action, caller: callerRow(stored) }
  return { kind: CALLER, key: stored.caller.name, value: JSON.stringify(value) }
}

export const isRevokedIn = ({ value }: Pick<NewSetting, 'value'>): boolean =>
  (JSON.parse(value) as CallerSetting).caller.revoked_at !== null

export function applyCaller(
  actor: Actor,
  value: string,
  { setAt, evidence }: { readonly setAt: Instant; readonly evidence: string },
): Command {
  return {
    name: 'apply_caller',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { action, caller } = JSON.parse(value) as CallerSetting

      // From here on it must succeed.
      stageCaller(ctx, merged(ctx, storedCaller(caller), setAt))
      logAction(ctx, actor, action, `${caller.kind} ${caller.name}`, evidence)
      return answer({})
    },
  }
}

function merged({ memory }: CommandContext, given: StoredCaller, setAt: Instant): StoredCaller {
  const { name } = given.caller
  const known = memory.callers.get(name)
  const others = [...memory.callers.values()].filter(({ caller }) => caller.name !== name)
  const isFree = ({ digest }: StoredToken): boolean =>
    !others.some(({ tokens }) => tokens.some((token) => sameText(token.digest, digest)))
  const ended = (known?.tokens ?? [])
    .filter(({ digest }) => !given.tokens.some((token) => sameText(token.digest, digest)))
    .map((token) => ({ ...token, endsAt: earlier(token.endsAt, setAt) }))
  const isHeld = others.some(({ certificate }) => certificate === given.certificate)
  return {
    ...given,
    certificate: isHeld ? null : given.certificate,
    tokens: [...ended, ...given.tokens.filter(isFree)],
    createdAt: known?.createdAt ?? given.createdAt,
    revokedAt: known?.revokedAt ?? given.revokedAt,
  }
}

const earlier = (endsAt: Instant | null, at: Instant): Instant =>
  endsAt === null || endsAt > at ? at : endsAt
