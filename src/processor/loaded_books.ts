/**
 * The keys and the memory of the books, as the processor begins with them. What an operator must
 * know about them is logged.
 */
import type { MasterKeys } from '../auth/master_key.js'
import { SECOND } from '../base/clock.js'
import type { Logger } from '../base/log.js'
import type { Random } from '../base/random.js'
import type { Settings } from '../settings/settings.js'
import type { Store } from '../store/store.js'
import { approvalName, isCorrupt as isCorruptRequest } from './changes/approval_requests.js'
import { areMoments } from './cache/stored_moments.js'
import { loadMemory, type Memory, type MemoryOptions } from './cache/memory.js'
import type { Member } from './cluster/member.js'
import type { BooksClock } from './cycle/books_clock.js'
import { createVault, type Vault } from './keys/vault.js'
import { openKeyring } from './master_keys/keyring.js'

export interface LoadingOptions {
  readonly settings: Settings
  readonly store: Store
  readonly masters: MasterKeys
  readonly member: Member | undefined
  readonly clock: BooksClock
  readonly random: Random
  readonly log: Logger
}

export interface LoadedBooks {
  readonly vault: Vault
  readonly memory: Memory
}

export const memoryOptions = (settings: Settings): MemoryOptions => ({
  warmActors: settings.WARM_ACTORS,
  duplicateWindowMs: settings.DUPLICATE_SCAN_WINDOW_S * SECOND,
})

export async function loadBooks(options: LoadingOptions): Promise<LoadedBooks> {
  const { settings, store, masters, member, clock, random, log } = options
  const keyring = await openKeyring(store, masters, random, clock.now())
  if (keyring.cutOff.length > 0) {
    log.warn(
      { master_keys: keyring.cutOff },
      'master keys were removed early; session tokens signed with them are rejected now',
    )
  }
  const vault = createVault(keyring, random)
  const memory = await loadMemory(store, vault, clock.now(), memoryOptions(settings))
  clock.passed(memory.newestMoment)
  if (clock.aheadMs() > SECOND) {
    log.warn({ ahead_ms: clock.aheadMs() }, "the books are ahead of this machine's clock")
  }
  await member?.adopt([...memory.partners.keys()])
  logCorrupt(memory, log)
  return { vault, memory }
}

const corrupt = (id: string) => ({ id, isCorrupt: true })

function logCorrupt(memory: Memory, log: Logger): void {
  const callers = [...memory.callers.values()].map(({ caller, ...rest }) => ({
    ...rest,
    id: caller.name,
  }))
  const requests = [...memory.approvalRequests.values()].filter(isCorruptRequest)
  const pauses = [...memory.pauses.values()].filter(
    ({ paused_at, resumed_at }) => !areMoments(paused_at, resumed_at),
  )
  const rails = [...memory.railRoutes.values()].filter(({ set_at }) => !areMoments(set_at))
  const rates = [...memory.rates.entries()].map(([key, { isCorrupt }]) => ({
    ...{ id: `rate ${key}`, isCorrupt },
  }))
  const all = [
    [memory.partners.values(), 'partner is corrupt; it counts as suspended'],
    [memory.keys.values(), 'signing key is corrupt; it counts as revoked'],
    [memory.endpoints.values(), 'webhook endpoint is corrupt; it counts as disabled'],
    [callers, 'caller is corrupt; it counts as revoked'],
    [rates, 'rate is corrupt; it counts as too old until it is set again'],
    [
      requests.map((each) => corrupt(approvalName(each))),
      'approval request is corrupt; it counts as ended',
    ],
    [
      pauses.map(({ subject }) => corrupt(`pause of ${subject}`)),
      'pause is corrupt; it lasts until it is resumed',
    ],
    [
      rails.map(({ route }) => corrupt(`rail of ${route}`)),
      'the rail of a route is corrupt; it is used until it is set again',
    ],
  ] as const
  for (const [entries, what] of all) {
    for (const { id, isCorrupt } of entries) {
      if (isCorrupt === true && memory.corruptRows.add(id)) log.error({ entity_id: id }, what)
    }
  }
}
