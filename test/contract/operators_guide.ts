/** The generated tables of the operators' guide: alerts, and the calls of each caller. */
import { relative } from 'node:path'
import { RPC_ACCESS, SERVICE_ACCESS } from '../../src/auth/rpc_access.js'
import type { Role } from '../../src/auth/caller.js'
import { alertRules } from '../metrics/shipped_rules.js'
import { guidePage } from '../support/operators_guide.js'
import { withTable } from './guide_table.js'

const ALERT_HEAD = '| Alert | Severity | What it says | Page |'
const ACCESS_HEAD = '| Caller | Service | Calls |'

/** Each role, as the guide names its holder. Operators of two of them may also read. */
const CALLERS: Readonly<Record<Role, string>> = {
  read: 'every operator',
  operate: 'operator, role `operate`',
  decide: 'operator, role `decide`',
  service: 'internal service',
  gateway: 'gateway',
  webhooks: 'webhook pool',
  processor: 'processor, at a rail and at a screening service',
  supervisor: 'supervisor',
}

export const withAlerts = (index: string): string =>
  withTable(
    index,
    ALERT_HEAD,
    alertRules().map(({ alert, severity, summary, runbook }) => {
      const page = relative('src/operations', guidePage(runbook).path)
      return [`\`${alert}\``, severity, summary, `[${runbook}](${page})`]
    }),
  )

export const withAccess = (page: string): string =>
  withTable(
    page,
    ACCESS_HEAD,
    (Object.keys(CALLERS) as Role[]).flatMap((role) =>
      callsOf(role).map(([service, calls]) => [CALLERS[role], `\`${service}\``, calls]),
    ),
  )

function callsOf(role: Role): (readonly [service: string, calls: string])[] {
  const whole = Object.entries<readonly Role[]>(SERVICE_ACCESS)
    .filter(([, roles]) => roles.includes(role))
    .map(([service]) => [bare(service), 'all'] as const)
  const single = Object.entries<Readonly<Record<string, readonly Role[]>>>(RPC_ACCESS)
    .map(([service, rpcs]) => {
      const own = Object.keys(rpcs).filter((rpc) => isOwn(role, rpcs[rpc] ?? []))
      return [bare(service), own.map((rpc) => `\`${rpc}\``).join(', ')] as const
    })
    .filter(([, calls]) => calls !== '')
  return [...whole, ...single]
}

/** What every operator may call stands once, with the role `read`. */
const isOwn = (role: Role, roles: readonly Role[]): boolean =>
  roles.includes(role) && (role === 'read' || !roles.includes('read'))

const bare = (service: string): string => service.replace(/^causeway\.(?:\w+\.)?v1\./, '')
