/**
 * Whether the time of a refusal tells its cause. It would tell an unauthenticated client which keys
 * exist or how much of a signature is right, and a partner which ids another one has.
 *
 * - Requests of all causes take turns in random order on one connection, so that a machine that
 *   changes its pace changes it for all of them.
 * - The causes of a group have the same method, path length and answer. Each is compared with the
 *   first one: the difference of the medians, and how probable such samples would be if there were
 *   no difference. Only both together tell one: a busy machine moves medians, and among thousands
 *   of samples half a microsecond is improbable too.
 * - The ids were asked for before. One that the processor has in memory is answered sooner than one
 *   that it must look up, whether it exists or not; its 80 random bits are too many to be tried.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR, plus, systemClock, toRfc3339, type Instant } from '../../src/base/clock.js'
import type { Environment } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { operatorsOf, type Key } from '../support/operators.js'
import { partnerOf } from '../support/partner.js'
import { openHttpSocket } from './client/http_socket.js'
import { signedRequest } from './client/presigned_requests.js'
import { createFixtures, type Fixtures } from './fixtures.js'
import { median } from './machine.js'
import type { Tools } from './measured_window.js'
import { finding, type Finding, type Part, type Section } from './result.js'
import type { Stack } from './stacks.js'

interface Group {
  readonly title: string
  readonly status: number
  /** The first one is what the others are compared with. */
  readonly causes: Readonly<Record<string, () => string>>
}
/** The milliseconds of each request, by cause. */
export type Times = Readonly<Record<string, readonly number[]>>

const MOST = { atMost: 5 }
/** A more probable difference may be noise, and has no target. */
const PROBABILITY_MIN = 0.01
/** Requests of each cause: then the code is compiled, and the processor knows every id. */
const WARM_UP = 500
const OUTSIDE_THE_WINDOW_MS = HOUR
/** As long as the name of the demo partner. */
const OTHERS = { paying: 'pays', revoked: 'gone', listed: 'list', unknown: 'none' }
const HOSTS = { sandbox: 'api.localhost', production: 'api.production.localhost' }
const BOTH_ENVIRONMENTS = {
  ...{ SANDBOX_HOSTS: HOSTS.sandbox, PRODUCTION_HOSTS: HOSTS.production },
  ...{ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes', WEBHOOK_ALLOW_PRIVATE: 'false' },
}
const LAST_WHOLE_CHARACTER = 41
const random = systemRandom()

/** @param samples requests of each cause */
export async function measureRefusals(
  { folder, stacks, progress }: Pick<Tools, 'folder' | 'stacks' | 'progress'>,
  samples: number,
): Promise<Part> {
  progress('starting a stack')
  const keys = join(folder, 'master.key')
  writeFileSync(keys, `1:${random.bytes(32).toString('hex')}\n`, { mode: 0o600 })
  const stack = await stacks.start({ settings: { ...BOTH_ENVIRONMENTS, MASTER_KEY_FILE: keys } })
  const sections: Section[] = []
  for (const group of await groupsOf(stack)) {
    progress(`${group.title}: ${samples} requests of each cause`)
    await play(stack, group, Math.min(WARM_UP, samples))
    const findings = refusalFindings(await play(stack, group, samples))
    sections.push({ title: group.title, windows: [], findings })
  }
  await stack.stop()
  return { sections, voidBecause: [] }
}

async function groupsOf(stack: Stack): Promise<readonly Group[]> {
  const operators = operatorsOf(stack)
  const paying = await operators.createPartner(OTHERS.paying)
  const { key_id: keyId, signing_secret: secret } = stack.sandbox
  const keys: Record<Environment, Key> = {
    sandbox: { keyId, secret },
    production: await operators.issueKey('demo', 'production'),
  }
  const revoked: Record<Environment, Key> = {
    sandbox: await operators.createPartner(OTHERS.revoked),
    production: await operators.issueKey(OTHERS.revoked, 'production'),
  }
  for (const key of Object.values(revoked)) await operators.revokeKey(key.keyId)
  await operators.createPartner(OTHERS.listed)
  const listed = await operators.issueKey(OTHERS.listed, 'production')
  await operators.setAllowedIps(OTHERS.listed, ['203.0.113.0/24'])
  operators.close()
  const other = await createFixtures(partnerOf(stack.sandbox, paying))

  const unauthenticated = (environment: Environment): Group => {
    const host = HOSTS[environment]
    const valid = keys[environment]
    const list = (key = valid, at?: Instant): string => read('/v1/balances', { host, ...key }, at)
    const unknown = { ...valid, keyId: valid.keyId.replace(/^[a-z]+/, OTHERS.unknown) }
    const elsewhere = keys[environment === 'sandbox' ? 'production' : 'sandbox']
    return {
      ...{ title: `401 of GET /v1/balances, ${environment}`, status: 401 },
      causes: {
        'signature wrong at its first character': () => withWrongSignature(list(), 0),
        'signature wrong at its last character': () =>
          withWrongSignature(list(), LAST_WHOLE_CHARACTER),
        'unknown key': () => list(unknown),
        'revoked key': () => list(revoked[environment]),
        'key of the other environment': () => list(elsewhere),
        'old timestamp': () => list(valid, plus(systemClock.now(), -OUTSIDE_THE_WINDOW_MS)),
        ...(environment === 'production' && { 'address not allowed': () => list(listed) }),
      },
    }
  }
  const demo = { host: HOSTS.sandbox, ...keys.sandbox }
  const KINDS = {
    '/v1/payment_intents': 'intents',
    '/v1/payouts': 'payouts',
    '/v1/beneficiaries': 'beneficiaries',
  } as const satisfies Record<string, keyof Fixtures>
  const absent = Object.entries(KINDS).map(([path, kind]): Group => {
    const taken = other[kind]
    const free = taken.map(unknownLike)
    return {
      ...{ title: `404 of GET ${path}/{id}`, status: 404 },
      causes: {
        'no such id': () => read(`${path}/${anyOf(free)}`, demo),
        "another partner's id": () => read(`${path}/${anyOf(taken)}`, demo),
      },
    }
  })
  return [unauthenticated('sandbox'), unauthenticated('production'), ...absent]
}

const read = (target: string, key: Key & { readonly host: string }, at?: Instant): string =>
  signedRequest({ method: 'GET', target, body: '' }, key, toRfc3339(at ?? systemClock.now()))

const anyOf = (ids: readonly string[]): string =>
  ids[Math.floor(random.fraction() * ids.length)] ?? ''

/** An id of the same form. */
const unknownLike = (id: string): string =>
  id.slice(0, -8) + String(Math.floor(random.fraction() * 1e8)).padStart(8, '0')

/** With another character of base64 there. */
const withWrongSignature = (request: string, at: number): string =>
  request.replace(/(?<=\r\nX-Service-Signature: )\S+/, (signature) => {
    const wrong = signature[at] === 'A' ? 'B' : 'A'
    return signature.slice(0, at) + wrong + signature.slice(at + 1)
  })

async function play(
  { addresses: [address] }: Stack,
  { title, status, causes }: Group,
  samples: number,
): Promise<Times> {
  if (address === undefined) throw new Error('the stack has no gateway')
  let answered: (status: number) => void
  let failed: (error: Error) => void
  const socket = await openHttpSocket(address, {
    answered: (response) => answered(response.status),
    lost: (reason) => failed(new Error(`${title}: ${reason}`)),
  })
  const answerTo = (request: Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      answered = resolve
      failed = reject
      socket.send(request)
    })
  const times = Object.fromEntries(Object.keys(causes).map((name) => [name, [] as number[]]))
  for (const name of inRandomOrder(Object.keys(causes), samples)) {
    const request = Buffer.from(causes[name]!(), 'latin1')
    const sentAt = performance.now()
    const given = await answerTo(request)
    const ms = performance.now() - sentAt
    if (given !== status) throw new Error(`${title}, ${name}: answered ${given}`)
    times[name]?.push(ms)
  }
  socket.close()
  return times
}

/** Each name as often. */
const inRandomOrder = (names: readonly string[], times: number): readonly string[] =>
  names
    .flatMap((name) => Array.from({ length: times }, () => ({ name, at: random.fraction() })))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name)

export function refusalFindings(times: Times): readonly Finding[] {
  const [[first = '', base = []] = [], ...others] = Object.entries(times)
  const usual = median(base)
  const percentOf = (ms: readonly number[]): number => (100 * Math.abs(median(ms) - usual)) / usual
  return [
    finding(`${first}, median`, usual * 1_000, 'µs'),
    ...others.flatMap(([cause, ms]) => {
      const probability = probabilityOf(base, ms)
      const target = probability < PROBABILITY_MIN ? MOST : undefined
      const direction = median(ms) < usual ? 'faster' : 'slower'
      return [
        finding(`${cause}, ${direction}`, percentOf(ms), '%', target),
        finding(`${cause}, probability without a difference`, probability, ''),
      ]
    }),
  ]
}

/**
 * How probable samples that differ so much are if both are of one distribution: the Mann-Whitney
 * test, two-sided, by its normal approximation, which holds from about twenty samples on.
 */
export function probabilityOf(one: readonly number[], other: readonly number[]): number {
  const sorted = other.toSorted((a, b) => a - b)
  const smaller = one.reduce((sum, ms) => sum + countBelow(sorted, ms), 0)
  const pairs = one.length * other.length
  const deviation = Math.sqrt((pairs * (one.length + other.length + 1)) / 12)
  return 2 * normalTail(Math.abs(smaller - pairs / 2) / deviation)
}

/** Counts in a sorted list; an equal value counts as half a one. */
function countBelow(sorted: readonly number[], value: number): number {
  const first = lowerBound(sorted, (each) => each >= value)
  return (first + lowerBound(sorted, (each) => each > value)) / 2
}

/** The index of the first value for which it holds. */
function lowerBound(sorted: readonly number[], holds: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(sorted[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** P(Z > z) of the standard normal distribution, to 1e-7 (Abramowitz and Stegun, 26.2.17). */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
}
