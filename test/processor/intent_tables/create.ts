/**
 * Intent creation: validation, authorization and idempotency.
 *
 * These rows send two requests each, so they are checked here instead of in intent_tables.test.ts.
 */
import type { Test } from 'tap'
import type { TenantId } from '../../../src/base/ids.js'
import { createIntent } from '../../../src/processor/commands/intents/intent_create.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { errorStatus } from '../../../gateway/http/error_response.js'
import { anIntent } from '../../support/requests.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../../support/world.js'
import { openTenant, type Intent } from '../intent_lifecycle.js'
import {
  becomes,
  CONFLICT,
  refusal,
  SUSPENDED,
  UNCLEAN,
  UNSATISFIED,
  UNVERIFIED,
  type Refusal,
  type Success,
} from './row.js'

type CreateRow = readonly [
  name: string,
  over: object,
  says: Refusal | Success,
  by?: {
    readonly tenant?: TenantId
    /** A request sent before with the same key. */
    readonly first?: object
    readonly firstBy?: TenantId
  },
]

export async function testCreate(t: Test): Promise<void> {
  const world = await createWorld(t)
  for (const row of await rowsIn(world)) await t.test(row[0], (t) => check(t, world, row))
}

async function check(t: Test, world: World, [name, over, says, by = {}]: CreateRow): Promise<void> {
  const { tenant = DEMO, first, firstBy = tenant } = by
  const request = async (over: object, tenant: TenantId): Promise<Answer> =>
    world.run(createIntent(tenant, anIntent({ idempotency_key: name, ...over })))
  const earlier = first === undefined ? null : await request(first, firstBy)
  const answer = await request(over, tenant)
  t.equal(codeOf(answer), says.code)
  if (says.code !== 'ok') return void t.equal(errorStatus(says.code, false), says.status)
  const { status } = viewOf<Intent>(answer)
  t.equal(status, says.then)
  const isReplay = earlier?.ok === true && firstBy === tenant
  t.equal(isReplayed(answer), isReplay)
  const isSame = earlier?.ok === true && bytes(earlier) === bytes(answer)
  t.equal(isSame, isReplay, 'byte for byte, or another intent')
}

const isReplayed = (answer: Answer): boolean => answer.ok && answer.replayed === true
const bytes = (answer: Answer): string => JSON.stringify(viewOf(answer))

async function rowsIn(world: World): Promise<readonly CreateRow[]> {
  const suspended = await openTenant(world, 'suspended', { suspended: true, corridors: [] })
  const thaiOnly = await openTenant(world, 'thaionly', { corridors: ['th_promptpay'] })
  const ok = becomes('created')
  const disabled = refusal('corridor_not_enabled', 403)
  const viet = { corridor: 'vn_vietqr' }
  const rescreened = {
    sanctions_attestation: { clean: true, screened_at: '2026-11-20T00:00:01Z' },
  }
  const again = { first: {} }
  return [
    ['the minimum', { partner_user_id: 'u', amount_usd_cents: 1 }, ok],
    ['the maximum', { amount_usd_cents: 100_000_000 }, ok],
    ['the other corridor', viet, ok],
    ['an unknown corridor', { corridor: 'us_ach' }, disabled],
    ['not verified', UNVERIFIED, UNSATISFIED],
    ['no KYC', { kyc_attestation: null }, UNSATISFIED],
    ['not clean', UNCLEAN, UNSATISFIED],
    ['no screening', { sanctions_attestation: null }, UNSATISFIED],
    [
      'a corridor that is not enabled, before attestations',
      { ...viet, ...UNVERIFIED },
      disabled,
      { tenant: thaiOnly },
    ],
    ['suspended, before the corridor', {}, SUSPENDED, { tenant: suspended }],
    ['a key again', {}, ok, again],
    ['a key, other amount', { amount_usd_cents: 1 }, CONFLICT, again],
    ['a key, other user', { partner_user_id: 'x' }, CONFLICT, again],
    ['a key, other corridor', viet, CONFLICT, again],
    ['a key, other attestation', rescreened, CONFLICT, again],
    [
      'a key, and invalid: conflict before all else',
      { amount_usd_cents: 0, ...UNCLEAN },
      CONFLICT,
      again,
    ],
    ["another tenant's key", { amount_usd_cents: 1 }, ok, { ...again, firstBy: thaiOnly }],
    ['the key of a refusal', {}, ok, { first: UNCLEAN }],
  ]
}
