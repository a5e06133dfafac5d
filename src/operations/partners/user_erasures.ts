/** Commands that erase a partner's user, and list such requests. */
import type { UserErasure__Output as UserErasure } from '../../../protos/types/causeway/operator/v1/UserErasure.js'
import { CHANGE, deciderOf } from '../cli/actor.js'
import type { CliCommand } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'

export const partnerEraseUser: CliCommand = {
  usage: 'partner erase-user PARTNER ENV USER',
  about: "replace a user's id in all its payments; needs a second operator",
  options: CHANGE,
  run: async (context, [partner = '', environment = '', partner_user_id = '']) => {
    const actor = deciderOf(context)
    const tenant = await tenantNamed(context, partner, environment)
    const erasure = await context.partners.call('EraseUser', { actor, tenant, partner_user_id })
    const next = `Its payments are erased in the background: see partner erasures.`
    return { value: erasure, lines: [`${erasure.id}: the user is being erased.`, next] }
  },
}

export const partnerErasures: CliCommand = {
  usage: 'partner erasures',
  about: 'the newest 100 requests to erase users, and how many payments wait',
  run: async ({ partners }) => {
    const list = await partners.call('ListErasures', {})
    const head = ['id', 'of', 'status', 'payments erased', 'waiting', 'requested', 'ended']
    const rows = list.data.map(rowOrName(rowOf))
    const lines = rows.length === 0 ? ['No user was erased.'] : [table([head, ...rows], [3, 4])]
    return { value: list, lines }
  },
}

const rowOf = (erasure: UserErasure): string[] => [
  ...[erasure.id, erasure.tenant, erasure.status],
  ...[String(erasure.payments), String(erasure.waiting)],
  ...[erasure.requested_at, erasure.ended_at ?? ''],
]
