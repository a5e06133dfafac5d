/** Which shards an operators' rpc asks, and how their answers become one. */
import type { ListOrder } from './merged_list.js'

export type Message = Readonly<Record<string, unknown>>

export type Policy =
  /** The shards agree: one is asked. */
  | { readonly kind: 'any' }
  /** The shard that has what the request names. */
  | { readonly kind: 'holder' }
  | { readonly kind: 'list'; readonly order: ListOrder }
  | { readonly kind: 'combined'; combine(answers: readonly Message[]): Message }
  /** The operator names the shard. */
  | { readonly kind: 'named' }

const ANY: Policy = { kind: 'any' }
const HOLDER: Policy = { kind: 'holder' }
const NAMED: Policy = { kind: 'named' }

/** Lists with this member of an entry as their order. */
const oldestFirst = (...path: readonly string[]): Policy => listBy(path, false)
const newestFirst = (...path: readonly string[]): Policy => listBy(path, true)

const listBy = (path: readonly string[], isNewestFirst: boolean): Policy => ({
  kind: 'list',
  order: { timeOf: (entry) => textAt(entry, path), isNewestFirst },
})

function textAt(entry: Message, path: readonly string[]): string {
  let found: unknown = entry
  for (const name of path) found = (found as Message | null | undefined)?.[name]
  return typeof found === 'string' ? found : ''
}

const combined = (combine: (answers: readonly Message[]) => Message): Policy => ({
  kind: 'combined',
  combine,
})

const all = (answers: readonly Message[], name: string): unknown[] =>
  answers.flatMap((answer) => answer[name] as unknown[])

const FOUND = combined((answers) => ({
  data: all(answers, 'data'),
  actions: all(answers, 'actions'),
  deliveries_unknown: answers.some((answer) => answer['deliveries_unknown'] === true),
}))

const TRIAL_BALANCE = combined((answers) => ({
  lines: all(answers, 'lines'),
  balanced: answers.every((answer) => answer['balanced'] === true),
}))

/** By service and rpc. A function decides by the request. An rpc without an entry is `named`. */
const POLICIES: Readonly<Record<string, Policy | ((request: Message) => Policy)>> = {
  'Operator/IssueKey': HOLDER,
  'Operator/Deposit': HOLDER,
  'Operator/SetBalanceAlert': HOLDER,
  'Operator/SetRoute': ({ route }) => ((route as Message)['tenant'] ? HOLDER : NAMED),
  'Operator/ListRoutes': oldestFirst('tenant', 'partner_id'),
  'Operator/TrialBalance': ({ tenant }) => (tenant ? HOLDER : TRIAL_BALANCE),
  'Operator/ListHeldPayouts': oldestFirst('payout', 'created_at'),
  'Operator/ShowPayout': HOLDER,
  'Operator/ApprovePayout': HOLDER,
  'Operator/RejectPayout': HOLDER,
  'Operator/ResolvePayout': HOLDER,
  'Operator/ReversePayout': HOLDER,
  'Operator/ShowIntent': HOLDER,
  'Operator/ResolveIntent': HOLDER,
  'Operator/ReverseIntent': HOLDER,
  'Operator/ListUnknownOutcomes': oldestFirst('since'),
  'Operator/ListDiscrepancies': oldestFirst('created_at'),
  'Operator/ResolveDiscrepancy': HOLDER,
  'Operator/Find': FOUND,
  'PartnerAdmin/List': oldestFirst('created_at'),
  'PartnerAdmin/Suspend': HOLDER,
  'PartnerAdmin/Resume': HOLDER,
  'PartnerAdmin/SetAllowedIps': HOLDER,
  'PartnerAdmin/SetPackages': HOLDER,
  'PartnerAdmin/SetCorridors': HOLDER,
  'PartnerAdmin/SetRateLimit': HOLDER,
  'PartnerAdmin/ListKeys': HOLDER,
  'PartnerAdmin/RevokeKey': HOLDER,
  'PartnerAdmin/ListActions': newestFirst('at'),
  'Approvals/List': oldestFirst('expires_at'),
  'Approvals/Approve': HOLDER,
  'Approvals/Reject': HOLDER,
  'Recovery/ListOrphans': oldestFirst('executed_at'),
  'Recovery/ResolveOrphan': HOLDER,
  'Recovery/ApproveIntent': HOLDER,
  'Recovery/RejectIntent': HOLDER,
  // Every pool serves every shard, so each processor's answer has all pools.
  'WebhookAdmin/Status': ANY,
  'WebhookAdmin/ListDead': ANY,
  'WebhookAdmin/ListPoison': ANY,
  'WebhookAdmin/Redrive': ANY,
  'WebhookAdmin/ListEndpoints': oldestFirst('id'),
  'WebhookAdmin/EnableEndpoint': HOLDER,
  'WebhookAdmin/DisableEndpoint': HOLDER,
}

/** @param path of the rpc: `/causeway.operator.v1.Operator/Find` */
export function policyOf(path: string, request: Message): Policy {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const policy = POLICIES[name] ?? NAMED
  return typeof policy === 'function' ? policy(request) : policy
}
