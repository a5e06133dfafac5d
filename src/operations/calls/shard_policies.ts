/** The shards that an operators' rpc is sent to, and how their answers are combined. */
import { assert } from '../../base/assert.js'
import type { ListOrder } from './merged_list.js'

export type Message = Readonly<Record<string, unknown>>

export type Policy =
  /**
   * Sent to one processor: each of them queries all webhook pools, which have the events of all
   * shards.
   */
  | { readonly kind: 'any' }
  /** As `any`; another processor is called when it does not answer. */
  | { readonly kind: 'pools' }
  /** The shard that has the entity of the request. `elsewhere`: the change in the others then. */
  | { readonly kind: 'holder'; readonly elsewhere?: Elsewhere }
  | { readonly kind: 'list'; readonly order: ListOrder }
  | {
      readonly kind: 'combined'
      /** @param shards that of each answer */
      combine(answers: readonly Message[], shards: readonly string[]): Message
    }
  /**
   * In a cluster one shard takes it for all: any, or the one that has the entity. Otherwise the
   * operator names the books.
   */
  | { readonly kind: 'shared'; readonly by: 'any' | 'holder' }
  /** A change in every shard. `except`: refusals of a shard where there is nothing to change. */
  | { readonly kind: 'everywhere'; readonly except: readonly string[] }
  /** The operator names the shard. */
  | { readonly kind: 'named' }

export interface Elsewhere {
  request(of: Message): Message
  /** As of `everywhere`. */
  readonly except: readonly string[]
}

const ANY: Policy = { kind: 'any' }
const POOLS: Policy = { kind: 'pools' }
const HOLDER: Policy = { kind: 'holder' }
/** Restored shards that lack an execution have it as an orphan each. */
const NO_ORPHAN = ['orphan_execution_not_found', 'orphan_execution_resolved']
const DISMISSED: Policy = { kind: 'everywhere', except: NO_ORPHAN }
const MATCHED: Policy = {
  kind: 'holder',
  elsewhere: {
    request: ({ payment_id, ...request }) => ({
      ...request,
      resolution: 'dismissed',
      evidence: `matched to ${String(payment_id)} of another shard`,
    }),
    except: NO_ORPHAN,
  },
}
const SHARED: Policy = { kind: 'shared', by: 'any' }
const SHARED_BY_HOLDER: Policy = { kind: 'shared', by: 'holder' }
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

type Combine = Extract<Policy, { kind: 'combined' }>['combine']

const combined = (combine: Combine): Policy => ({
  kind: 'combined',
  combine,
})

const all = (answers: readonly Message[], name: string): unknown[] =>
  answers.flatMap((answer) => answer[name] as unknown[])

const FOUND = combined((answers) => ({
  data: all(answers, 'data'),
  actions: all(answers, 'actions'),
  deliveries_unknown: answers.some((answer) => answer['deliveries_unknown'] === true),
  missing_pools: missingPools(answers),
}))

const ENDPOINTS = combined((answers) => ({
  data: (all(answers, 'data') as Message[]).sort((one, other) =>
    order(textAt(one, ['id']), textAt(other, ['id'])),
  ),
  missing_pools: missingPools(answers),
}))

const missingPools = (answers: readonly Message[]): unknown[] => [
  ...new Set(all(answers, 'missing_pools')),
]

const TRIAL_BALANCE = combined((answers) => ({
  lines: all(answers, 'lines'),
  balanced: answers.every((answer) => answer['balanced'] === true),
}))

/** A shard can have callers of its own: an entry names the shards that have it so. */
const CALLER_LIST = combined((answers, shards) => {
  const found = new Map<string, { readonly entry: Message; readonly shards: readonly string[] }>()
  for (const [i, answer] of answers.entries()) {
    for (const entry of answer['data'] as Message[]) {
      const { last_used_at: _used, created_at: _created, revoked_at: _revoked, ...same } = entry
      const key = JSON.stringify(same)
      const known = found.get(key) ?? { entry, shards: [] }
      const isLater = textAt(entry, ['last_used_at']) > textAt(known.entry, ['last_used_at'])
      found.set(key, {
        entry: isLater ? entry : known.entry,
        shards: [...known.shards, shards[i]!],
      })
    }
  }
  const data = [...found.values()].map(({ entry, ...held }) => ({ ...entry, ...held }))
  return { data: data.sort((one, other) => order(textAt(one, ['name']), textAt(other, ['name']))) }
})

const SYSTEM = combined((answers) => ({ data: all(answers, 'data') }))

/** An entry that is equal in all shards once; otherwise each shard's own entry, newest first. */
const RATES = combined((answers) => ({
  data: distinct(answers).sort(
    (one, other) =>
      order(textAt(one, ['currency']), textAt(other, ['currency'])) ||
      order(textAt(one, ['environment']), textAt(other, ['environment'])) ||
      order(textAt(other, ['set_at']), textAt(one, ['set_at'])),
  ),
}))

const ROUTES = combined((answers) => ({
  data: distinct(answers).sort((one, other) => order(ownerOf(one), ownerOf(other))),
  rails: distinct(answers, 'rails').sort((one, other) =>
    order(textAt(one, ['route']), textAt(other, ['route'])),
  ),
}))

const PAUSES = combined((answers) => ({
  data: distinct(answers).sort((one, other) =>
    order(textAt(one, ['paused_at']), textAt(other, ['paused_at'])),
  ),
}))

const ownerOf = (route: Message): string => textAt(route, ['tenant', 'partner_id'])

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function distinct(answers: readonly Message[], name = 'data'): Message[] {
  const entries = all(answers, name).map((entry) => [JSON.stringify(entry), entry] as const)
  return [...new Map(entries).values()] as Message[]
}

/** By service and rpc. A function decides by the request. */
const POLICIES: Readonly<Record<string, Policy | ((request: Message) => Policy)>> = {
  'Operator/IssueKey': HOLDER,
  'Operator/Deposit': HOLDER,
  'Operator/Withdraw': HOLDER,
  'Operator/CorrectDeposit': HOLDER,
  'Operator/SetBalanceAlert': HOLDER,
  'Operator/SetRate': SHARED,
  'Operator/SetRates': SHARED,
  'Operator/ListRates': RATES,
  'Operator/SetRoute': ({ route }) => ((route as Message)['tenant'] ? HOLDER : SHARED),
  'Operator/SetRouteRail': SHARED,
  'Operator/PauseSubmissions': SHARED,
  'Operator/ResumeSubmissions': SHARED,
  'Operator/ListSubmissionPauses': PAUSES,
  'Operator/ListRoutes': ROUTES,
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
  'Operator/Inquire': HOLDER,
  'Operator/ShowPayee': HOLDER,
  'Operator/ListDiscrepancies': oldestFirst('created_at'),
  'Operator/ResolveDiscrepancy': HOLDER,
  'Operator/Find': FOUND,
  // Each shard has an archive of its own.
  'Operator/ListArchivable': NAMED,
  'Operator/RemoveArchived': NAMED,
  'Operator/ShowSystem': SYSTEM,
  'PartnerAdmin/List': oldestFirst('created_at'),
  'PartnerAdmin/Suspend': HOLDER,
  'PartnerAdmin/Resume': HOLDER,
  'PartnerAdmin/SetAllowedIps': HOLDER,
  'PartnerAdmin/SetPackages': HOLDER,
  'PartnerAdmin/SetCorridors': HOLDER,
  'PartnerAdmin/SetRateLimit': HOLDER,
  'PartnerAdmin/ListKeys': HOLDER,
  'PartnerAdmin/ShowUsage': HOLDER,
  'PartnerAdmin/RevokeKey': HOLDER,
  'PartnerAdmin/ListActions': newestFirst('at'),
  'PartnerAdmin/EraseUser': HOLDER,
  'PartnerAdmin/ListErasures': newestFirst('requested_at'),
  // A stored caller has its roles in each shard; one of them answers for all.
  'Callers/Identify': ANY,
  'Callers/List': CALLER_LIST,
  'Callers/Create': SHARED,
  // A caller of an earlier version can be in one shard alone.
  'Callers/Rotate': SHARED_BY_HOLDER,
  'Callers/Revoke': { kind: 'everywhere', except: ['caller_not_found', 'caller_revoked'] },
  'Approvals/List': oldestFirst('expires_at'),
  'Approvals/Approve': HOLDER,
  'Approvals/Reject': HOLDER,
  'Recovery/ListOrphans': oldestFirst('executed_at'),
  'Recovery/ListHeldIntents': oldestFirst('created_at'),
  'Recovery/ResolveOrphan': ({ resolution }) => (resolution === 'dismissed' ? DISMISSED : MATCHED),
  'Recovery/ApproveIntent': HOLDER,
  'Recovery/RejectIntent': HOLDER,
  'WebhookAdmin/Status': POOLS,
  'WebhookAdmin/ListDead': POOLS,
  'WebhookAdmin/ListPoison': POOLS,
  'WebhookAdmin/Redrive': ({ endpoint_id }) => (endpoint_id ? HOLDER : ANY),
  'WebhookAdmin/ListEndpoints': ENDPOINTS,
  'WebhookAdmin/EnableEndpoint': HOLDER,
  'WebhookAdmin/DisableEndpoint': HOLDER,
  // A new partner has no shard yet.
  'Operator/CreatePartner': NAMED,
  // Each shard has its own.
  'Operator/EnsureDemo': NAMED,
  'Recovery/Show': NAMED,
  'Recovery/AddOrphans': NAMED,
  'Recovery/CheckStatement': NAMED,
  'Recovery/Release': NAMED,
  'Recovery/NoteBackup': NAMED,
  // `master-key` calls it at every shard.
  'PartnerAdmin/ReencryptSecrets': NAMED,
}

/** @param path of the rpc: `/causeway.operator.v1.Operator/Find` */
export function policyOf(path: string, request: Message): Policy {
  const policy = POLICIES[path.slice(path.lastIndexOf('.') + 1)]
  assert(policy !== undefined, `${path} has a policy`)
  return typeof policy === 'function' ? policy(request) : policy
}
