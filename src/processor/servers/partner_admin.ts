/** The operators' calls about partners and keys. */
import type { PartnerAdminHandlers } from '../../../protos/types/causeway/operator/v1/PartnerAdmin.js'
import type { SetPartnerListRequest__Output as SetList } from '../../../protos/types/causeway/operator/v1/SetPartnerListRequest.js'
import { toRfc3339 } from '../../base/clock.js'
import { partsOfTenant } from '../../base/ids.js'
import { listKeys, revokeKey } from '../commands/partners/key_revoke.js'
import { changePartner, listPartners } from '../commands/partners/partner_change.js'
import { listActions } from '../queries/action_list.js'
import { showUsage } from '../queries/usage_show.js'
import { listUserErasures } from '../queries/user_erasure_list.js'
import type { CallCounts } from './call_counts.js'
import { reencryptSecrets } from './secret_reencryption.js'
import {
  operatorWork,
  ownWork,
  tenantIn,
  unary,
  unaryQuery,
  type UnaryDependencies,
} from './unary_handler.js'
import { eraseUserCall } from './user_erasure.js'

/** @param ratePerSecond the limit of a key whose partner has none of its own */
export function partnerAdminService(
  dependencies: UnaryDependencies,
  calls: Pick<CallCounts, 'of'>,
  ratePerSecond: number,
): PartnerAdminHandlers {
  const setList =
    (kind: 'allowed_ips' | 'packages' | 'corridors') =>
    ({ actor, partner_id, values }: SetList): ReturnType<typeof ownWork> =>
      operatorWork(actor, (a) => changePartner(a, partner_id, { kind, values }))

  return {
    List: unary(dependencies, () => ownWork(listPartners())),
    Suspend: unary(dependencies, ({ actor, partner_id }) =>
      operatorWork(actor, (a) => changePartner(a, partner_id, { kind: 'suspend' })),
    ),
    Resume: unary(dependencies, ({ actor, partner_id }) =>
      operatorWork(actor, (a) => changePartner(a, partner_id, { kind: 'resume' })),
    ),
    SetAllowedIps: unary(dependencies, setList('allowed_ips')),
    SetPackages: unary(dependencies, setList('packages')),
    SetCorridors: unary(dependencies, setList('corridors')),
    SetRateLimit: unary(dependencies, ({ actor, partner_id, per_second: perSecond }) =>
      operatorWork(actor, (a) => changePartner(a, partner_id, { kind: 'rate_limit', perSecond })),
    ),
    ListKeys: unary(dependencies, ({ tenant: named }) => {
      const tenant = tenantIn(dependencies.memory, named)
      return ownWork(tenant === null ? null : listKeys(tenant))
    }),
    ShowUsage: unaryQuery(dependencies, ({ tenant: named, days, within_ms: withinMs }) => {
      const tenant = tenantIn(dependencies.memory, named)
      if (tenant === null) return null
      const { clock, memory } = dependencies
      const { since, busiestSecond, ...counts } = calls.of(tenant, clock.now())
      const { partner } = partsOfTenant(tenant)
      return showUsage(tenant, { days, withinMs }, clock, {
        ...{ since: toRfc3339(since), ...counts, busiest_second: busiestSecond },
        requests_per_second: memory.partners.get(partner)?.rateLimitPerSecond || ratePerSecond,
      })
    }),
    RevokeKey: unary(dependencies, ({ actor, key_id }) =>
      operatorWork(actor, (a) => revokeKey(a, key_id)),
    ),
    ReencryptSecrets: reencryptSecrets(dependencies),
    ListActions: unaryQuery(dependencies, (request) => listActions(request)),
    EraseUser: eraseUserCall(dependencies),
    ListErasures: unaryQuery(dependencies, () => listUserErasures()),
  }
}
