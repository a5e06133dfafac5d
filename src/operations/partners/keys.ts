/**
 * Commands that list and revoke signing keys.
 *
 * - Secrets are shown only when a key is issued, never here.
 */
import type { KeyRecord__Output as Key } from '../../../protos/types/causeway/operator/v1/KeyRecord.js'
import { parseKeyId } from '../../auth/request_shape.js'
import { actorOf, CHANGE } from '../cli/actor.js'
import { CommandFault, type CliCommand } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'

export const keyList: CliCommand = {
  usage: 'key list PARTNER ENV',
  about: 'signing keys, without secrets',
  run: async ({ partners }, [partner_id = '', environment = '']) => {
    const tenant = await tenantNamed({ partners }, partner_id, environment)
    const list = await partners.call('ListKeys', { tenant })
    const rows = list.data.map(rowOrName(rowOf))
    return {
      value: list,
      lines: [rows.length === 0 ? `${partner_id} has no key for ${environment}.` : table(rows, [])],
    }
  },
}

function rowOf({ key_id, status, created_at, revoked_at }: Key): string[] {
  const end =
    revoked_at === undefined ? '' : `${status === 'retiring' ? 'until' : 'at'} ${revoked_at}`
  return [key_id, status, `issued ${created_at}`, end]
}

export const keyRevoke: CliCommand = {
  usage: 'key revoke KEY',
  about: 'revoke a signing key immediately and permanently',
  options: CHANGE,
  run: async (context, [key_id = '']) => {
    const environment = parseKeyId(key_id)?.environment
    if (environment === undefined) {
      throw new CommandFault(
        `${key_id} is not a key id: PARTNER_ENV_QUARTER, e.g. acme_sandbox_2026q4.`,
      )
    }
    const actor = actorOf(context, environment)
    const revoked = await context.partners.call('RevokeKey', { actor, key_id })
    return { value: revoked, lines: [table([rowOf(revoked)], [])] }
  },
}
