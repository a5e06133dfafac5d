/**
 * Branded id types, their prefixes and their only constructor.
 *
 * Does not own: secrets and token ids (auth). An id is never a credential.
 *
 * - An id is `prefix_` + 26 Crockford base-32 characters: 48 bits of milliseconds, then 80 random
 *   bits.
 * - Ids of one prefix sort by their creation time, which keeps index pages local.
 * - Every id has 80 random bits of its own; none increments the previous one.
 */
import { instant, type Instant } from './clock.js'
import type { Random } from './random.js'

export const PREFIX = {
  intent: 'pi_',
  quote: 'qt_',
  payout: 'pout_',
  beneficiary: 'ben_',
  event: 'evt_',
  endpoint: 'we_',
  delivery: 'dlv_',
  request: 'req_',
  deposit: 'dep_',
  withdrawal: 'wdr_',
  conversion: 'fxc_',
  fxQuote: 'fxq_',
  report: 'rep_',
  approvalRequest: 'apr_',
  erasure: 'era_',
} as const
export type IdKind = keyof typeof PREFIX

type Branded<Name extends string> = string & { readonly __brand: Name }
export type IntentId = Branded<'intent'>
export type QuoteId = Branded<'quote'>
export type PayoutId = Branded<'payout'>
export type BeneficiaryId = Branded<'beneficiary'>
export type EventId = Branded<'event'>
export type EndpointId = Branded<'endpoint'>
export type DeliveryId = Branded<'delivery'>
export type RequestId = Branded<'request'>
/** An entity has at most one instruction at a rail, so the instruction has the entity's id. */
export type EffectId = IntentId | PayoutId
export type PartnerId = Branded<'partner'>
/** `{partner}_{environment}`, the isolation boundary: part of every row and every query. */
export type TenantId = Branded<'tenant'>
/** `{partner}_{environment}_{quarter}`, e.g. `demo_sandbox_2026q4`. */
export type KeyId = Branded<'key'>

export const ENVIRONMENTS = ['sandbox', 'production'] as const
export type Environment = (typeof ENVIRONMENTS)[number]
export const isEnvironment = (text: string): text is Environment =>
  ENVIRONMENTS.some((environment) => environment === text)

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_CHARACTERS = 10
const RANDOM_BYTES = 10
const RANDOM_CHARACTERS = 16

/** A new id: `at` gives its order, `random` its uniqueness. */
export function newId<Id extends string>(kind: IdKind, at: Instant, random: Random): Id {
  writeTime(at)
  writeRandom(random.bytes(RANDOM_BYTES))
  return (PREFIX[kind] + characters.toString('latin1')) as Id
}

/** 48 bits of milliseconds. */
const LAST_INSTANT = 2 ** 48 - 1
const ZERO_BYTES: Random = { bytes: (count) => Buffer.alloc(count), fraction: () => 0 }

/** Sorts after every id of any kind. */
export const AFTER_ALL_IDS = '~'

/** Sorts before every id of this kind from this instant on, and after the earlier ones. */
export function leastIdAt(kind: IdKind, at: number): string {
  return newId(kind, instant(Math.min(Math.max(at, 0), LAST_INSTANT)), ZERO_BYTES)
}

const CODES = Buffer.from(ALPHABET)
/** Those of the latest id, so it becomes a text at once: one by one each is a text of its own. */
const characters = Buffer.alloc(TIME_CHARACTERS + RANDOM_CHARACTERS)
let lastInstant = -1

/** Ids of one millisecond share their time part, so the last one stays. */
function writeTime(at: Instant): void {
  if (at === lastInstant) return
  let rest: number = at
  for (let index = TIME_CHARACTERS - 1; index >= 0; index--) {
    characters[index] = CODES[rest % 32]!
    rest = Math.floor(rest / 32)
  }
  lastInstant = at
}

/** 80 bits as 16 characters of 5 bits. */
function writeRandom(bytes: Buffer): void {
  let index = TIME_CHARACTERS
  let bits = 0
  let count = 0
  for (let i = 0; i < RANDOM_BYTES; i++) {
    bits = (bits << 8) | bytes[i]!
    for (count += 8; count >= 5; index++) {
      count -= 5
      characters[index] = CODES[(bits >>> count) & 31]!
    }
  }
}

/** When an id was created; the text has the form of one. */
export function instantOf(id: string): Instant {
  const start = id.indexOf('_') + 1
  let at = 0
  for (const character of id.slice(start, start + TIME_CHARACTERS)) {
    at = at * 32 + ALPHABET.indexOf(character)
  }
  return instant(Math.min(at, LAST_INSTANT))
}

const ID_SHAPE = /^[a-z]{2,5}_[0-9A-HJKMNP-TV-Z]{26}$/

/** Whether the text has the form of an id of any kind. */
export const isId = (text: string): boolean => ID_SHAPE.test(text)

/** Whether the text has the form of an id of this kind; the entity need not exist. */
export function isIdOf(kind: IdKind, text: string): boolean {
  return text.startsWith(PREFIX[kind]) && ID_SHAPE.test(text)
}

export const tenantOf = (partner: PartnerId, environment: Environment): TenantId =>
  `${partner}_${environment}` as TenantId

/** The two parts of a tenant id, which only `tenantOf` creates. */
export function partsOfTenant(tenant: TenantId): { partner: PartnerId; environment: Environment } {
  const cut = tenant.lastIndexOf('_')
  return {
    partner: tenant.slice(0, cut) as PartnerId,
    environment: tenant.slice(cut + 1) as Environment,
  }
}

export const environmentOf = (tenant: TenantId): Environment =>
  tenant.endsWith('_production') ? 'production' : 'sandbox'
