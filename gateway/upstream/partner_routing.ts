/**
 * The routing table from partners to processors, built from the directory stream of each processor.
 *
 * Does not own: connections (processors.ts), calls of partners without a processor (processors.ts).
 *
 * - A partner is routed to the processor that announces it. If two processors do, an open stream
 *   takes precedence; of two that are open, or two that are broken, the higher epoch of their shard
 *   does: the other processor was deposed. Open streams come first because restored books begin
 *   again at a lower epoch than that of the processor that served before, which has ended.
 * - The last snapshot of a processor stays in use when its stream breaks, until a new one is
 *   complete.
 * - The keys of a partner stay in the directory while no processor announces it: its calls are
 *   authenticated, and answered 503.
 */
import type { Partner__Output } from '../../protos/types/causeway/internal/v1/Partner.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { TokenKey__Output } from '../../protos/types/causeway/internal/v1/TokenKey.js'
import { ENVIRONMENTS, tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createPartners, type Partners } from '../authentication/partners.js'

/** What a processor announces, and whether its stream is open. */
export interface ProcessorStatus {
  /** Empty means that it has no shard, or these are the only books. */
  readonly shard: string
  readonly epoch: number
  /** Its directory stream is open and complete. */
  readonly fresh: boolean
  /** It waits for a shard. */
  readonly isWaiting: boolean
  readonly partners: number
}

export interface PartnerRouting<Processor> {
  /** Undefined means that no processor announces the tenant's partner. */
  ownerOf(tenant: string): Processor | undefined
  statusOf(processor: Processor): ProcessorStatus
  /** Partners of all processors; undefined before the first complete snapshot. */
  partners(): Partners | undefined
  /** Every shard, or without a list of shards every processor, has announced its partners. */
  isComplete(): boolean
  /** Every known shard by name, with its processors whose directory streams are open. */
  shards(): ReadonlyMap<string, readonly Processor[]>
  add(processor: Processor): void
  /** The next updates, up to the one marked complete, replace everything of this processor. */
  opened(processor: Processor): void
  updated(processor: Processor, update: PartnerUpdate__Output): void
  broke(processor: Processor): void
  remove(processor: Processor): void
}

/** Partners whose owner has changed. */
export type OwnersChanged = (partners: readonly PartnerId[]) => void

interface Snapshot {
  isWaiting: boolean
  shard: string
  epoch: number
  shards: readonly string[]
  tokenKeys: readonly TokenKey__Output[]
  readonly partners: Map<PartnerId, Partner__Output>
}

interface State {
  /** What the open stream has sent. Once it is complete, the same as `current`. */
  arriving: Snapshot
  current: Snapshot | undefined
  fresh: boolean
}

/** @param onConflict called when two processors have different secrets of one token key */
export function createPartnerRouting<Processor extends object>(
  onChange: OwnersChanged,
  onConflict: (kid: string) => void,
): PartnerRouting<Processor> {
  const states = new Map<Processor, State>()
  const owners = new Map<PartnerId, Processor>()
  const byTenant = new Map<string, Processor>()
  const merged = createPartners()
  let isKnown = false

  const stateOf = (processor: Processor): State => states.get(processor)!

  const ownerAmong = (partner: PartnerId): Processor | undefined => {
    let best: [Processor, State] | undefined
    for (const entry of states) {
      if (entry[1].current?.partners.has(partner) !== true) continue
      if (best === undefined || precedes(entry[1], best[1])) best = entry
    }
    return best?.[0]
  }

  /** Selects the processor of these partners again, and applies its directory entries. */
  const reroute = (partners: Iterable<PartnerId>): void => {
    const changed: PartnerId[] = []
    const entries: Partner__Output[] = []
    for (const id of partners) {
      const owner = ownerAmong(id)
      const partner = owner && stateOf(owner).current?.partners.get(id)
      if (partner !== undefined) entries.push(partner)
      if (owner === owners.get(id)) continue
      changed.push(id)
      setOwner(id, owner)
    }
    merged.apply({ partners: entries, token_keys: [] })
    if (changed.length > 0) onChange(changed)
  }

  const setOwner = (id: PartnerId, owner: Processor | undefined): void => {
    for (const environment of ENVIRONMENTS) {
      if (owner === undefined) byTenant.delete(tenantOf(id, environment))
      else byTenant.set(tenantOf(id, environment), owner)
    }
    if (owner === undefined) owners.delete(id)
    else owners.set(id, owner)
  }

  const mergedTokenKeys = (): TokenKey__Output[] => {
    const byKid = new Map<string, TokenKey__Output>()
    for (const { current } of states.values()) {
      for (const key of current?.tokenKeys ?? []) {
        const known = byKid.get(key.kid)
        if (known === undefined) byKid.set(key.kid, key)
        else if (!known.secret.equals(key.secret)) onConflict(key.kid)
      }
    }
    return [...byKid.values()]
  }

  const replaceSnapshot = (state: State): void => {
    const before = state.current?.partners.keys() ?? []
    const affected = new Set([...before, ...state.arriving.partners.keys()])
    state.current = state.arriving
    state.fresh = true
    isKnown = true
    merged.apply({ partners: [], token_keys: mergedTokenKeys() })
    reroute(affected)
  }

  return {
    ownerOf: (tenant) => byTenant.get(tenant),
    statusOf: (processor) => {
      const { current, fresh } = stateOf(processor)
      const { shard, epoch, isWaiting } = current ?? NO_SNAPSHOT
      return { shard, epoch, fresh, isWaiting, partners: current?.partners.size ?? 0 }
    },
    partners: () => (isKnown ? merged : undefined),
    isComplete: () => {
      const known = [...states.values()].map(({ current }) => current)
      const shards = new Set(known.flatMap((snapshot) => snapshot?.shards ?? []))
      if (shards.size === 0) return known.every((snapshot) => snapshot !== undefined)
      for (const snapshot of known) shards.delete(snapshot?.shard ?? '')
      return shards.size === 0
    },
    shards: () => {
      const shards = new Map<string, Processor[]>()
      for (const { current } of states.values()) {
        for (const shard of [...(current?.shards ?? []), current?.shard ?? ''])
          shards.set(shard, [])
      }
      shards.delete('')
      for (const [processor, { current, fresh }] of states) {
        if (fresh) shards.get(current?.shard ?? '')?.push(processor)
      }
      return shards
    },
    add: (processor) =>
      void states.set(processor, { arriving: noSnapshot(), current: undefined, fresh: false }),
    opened: (processor) => {
      stateOf(processor).arriving = noSnapshot()
    },
    updated: (processor, update) => {
      const state = stateOf(processor)
      const isUpdate = state.arriving === state.current
      const touched = applyTo(state.arriving, update)
      if (isUpdate) reroute(touched)
      else if (update.complete || update.waiting) replaceSnapshot(state)
    },
    broke: (processor) => {
      const state = stateOf(processor)
      state.fresh = false
      reroute(state.current?.partners.keys() ?? [])
    },
    remove: (processor) => {
      const { current } = stateOf(processor)
      states.delete(processor)
      reroute(current?.partners.keys() ?? [])
    },
  }
}

const noSnapshot = (): Snapshot => ({
  isWaiting: false,
  shard: '',
  epoch: 0,
  shards: [],
  tokenKeys: [],
  partners: new Map(),
})
const NO_SNAPSHOT = noSnapshot()

/** Whether the first processor takes precedence. Both have a snapshot. */
function precedes(one: State, other: State): boolean {
  if (one.fresh !== other.fresh) return one.fresh
  const [mine, theirs] = [one.current ?? NO_SNAPSHOT, other.current ?? NO_SNAPSHOT]
  const isOneShard = mine.shard !== '' && mine.shard === theirs.shard
  return isOneShard && mine.epoch > theirs.epoch
}

/** @returns the partners that the update names */
function applyTo(snapshot: Snapshot, update: PartnerUpdate__Output): readonly PartnerId[] {
  if (update.waiting) snapshot.isWaiting = true
  if (update.shard !== '') {
    snapshot.shard = update.shard
    snapshot.epoch = Number(update.epoch)
  }
  if (update.shards.length > 0) snapshot.shards = update.shards
  if (update.token_keys.length > 0) snapshot.tokenKeys = update.token_keys
  for (const partner of update.partners) {
    snapshot.partners.set(partner.partner_id as PartnerId, partner)
  }
  for (const id of update.gone) snapshot.partners.delete(id as PartnerId)
  return [...update.partners.map(({ partner_id }) => partner_id), ...update.gone] as PartnerId[]
}
