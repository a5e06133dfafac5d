/**
 * Which processor serves which partner: who announces a partner serves it.
 *
 * Does not own: connections (processors.ts), the calls of partners that nobody announces.
 *
 * - Of two processors that announce a partner from one shard the one with the higher epoch has it:
 *   the other one was deposed and does not know yet. Of two shards the one whose announcements
 *   arrive has it.
 * - The last snapshot of a processor stays in use when its stream breaks, until a new one is
 *   complete.
 * - A partner's keys stay known while nobody announces it: its calls are authentic, and answered
 *   503.
 */
import type { Partner__Output } from '../../protos/types/causeway/internal/v1/Partner.js'
import type { PartnerUpdate__Output } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { TokenKey__Output } from '../../protos/types/causeway/internal/v1/TokenKey.js'
import { tenantOf, type Environment, type PartnerId } from '../../src/base/ids.js'
import { createPartners, type Partners } from '../authentication/partners.js'

/** What a processor says about itself. */
export interface Claim {
  /** Empty: it has no shard, or these are the only books. */
  readonly shard: string
  readonly epoch: number
  /** Announcements arrive. */
  readonly fresh: boolean
  readonly partners: number
}

export interface Claims<Processor> {
  /** Undefined: nobody announces the tenant's partner. */
  ownerOf(tenant: string): Processor | undefined
  claimOf(processor: Processor): Claim
  /** Everybody's; undefined before the first complete snapshot. */
  partners(): Partners | undefined
  /** Every shard, or without a list of shards every processor, has announced its partners. */
  isComplete(): boolean
  add(processor: Processor): void
  /** The next updates replace everything of this processor. */
  opened(processor: Processor): void
  updated(processor: Processor, update: PartnerUpdate__Output): void
  broke(processor: Processor): void
  remove(processor: Processor): void
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'production']

/** Partners whose owner has changed. */
export type OwnersChanged = (partners: readonly PartnerId[]) => void

interface Snapshot {
  shard: string
  epoch: number
  shards: readonly string[]
  tokenKeys: readonly TokenKey__Output[]
  readonly partners: Map<PartnerId, Partner__Output>
}

interface State {
  /** Of the open stream, until it is complete; then the same as `current`. */
  arriving: Snapshot
  current: Snapshot | undefined
  fresh: boolean
}

/** @param onConflict called when two processors have different secrets of one token key */
export function createClaims<Processor extends object>(
  onChange: OwnersChanged,
  onConflict: (kid: string) => void,
): Claims<Processor> {
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

  /** Decides again who has these partners, and takes over the newest word about them. */
  const decide = (partners: Iterable<PartnerId>): void => {
    const changed: PartnerId[] = []
    const told: Partner__Output[] = []
    for (const id of partners) {
      const owner = ownerAmong(id)
      const partner = owner && stateOf(owner).current?.partners.get(id)
      if (partner !== undefined) told.push(partner)
      if (owner === owners.get(id)) continue
      changed.push(id)
      setOwner(id, owner)
    }
    merged.apply({ partners: told, token_keys: [] })
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
    decide(affected)
  }

  return {
    ownerOf: (tenant) => byTenant.get(tenant),
    claimOf: (processor) => {
      const { current, fresh } = stateOf(processor)
      const { shard, epoch } = current ?? NO_SNAPSHOT
      return { shard, epoch, fresh, partners: current?.partners.size ?? 0 }
    },
    partners: () => (isKnown ? merged : undefined),
    isComplete: () => {
      const known = [...states.values()].map(({ current }) => current)
      const shards = new Set(known.flatMap((snapshot) => snapshot?.shards ?? []))
      if (shards.size === 0) return known.every((snapshot) => snapshot !== undefined)
      for (const snapshot of known) shards.delete(snapshot?.shard ?? '')
      return shards.size === 0
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
      if (isUpdate) decide(touched)
      else if (update.complete) replaceSnapshot(state)
    },
    broke: (processor) => {
      const state = stateOf(processor)
      state.fresh = false
      decide(state.current?.partners.keys() ?? [])
    },
    remove: (processor) => {
      const { current } = stateOf(processor)
      states.delete(processor)
      decide(current?.partners.keys() ?? [])
    },
  }
}

const noSnapshot = (): Snapshot => ({
  shard: '',
  epoch: 0,
  shards: [],
  tokenKeys: [],
  partners: new Map(),
})
const NO_SNAPSHOT = noSnapshot()

/** Whether the first claim is the better one. Both have a snapshot. */
function precedes(one: State, other: State): boolean {
  const [mine, theirs] = [one.current ?? NO_SNAPSHOT, other.current ?? NO_SNAPSHOT]
  const isOneShard = mine.shard !== '' && mine.shard === theirs.shard
  if (isOneShard && mine.epoch !== theirs.epoch) return mine.epoch > theirs.epoch
  return one.fresh && !other.fresh
}

/** @returns the partners that the update names */
function applyTo(snapshot: Snapshot, update: PartnerUpdate__Output): readonly PartnerId[] {
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
