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

interface CreateRow {
  readonly name: string
  readonly tenant?: TenantId
  /** A request sent before. */
  readonly first?: object
  readonly by?: TenantId
  readonly over: object
  readonly says: Refusal | Success
}

export async function testCreate(t: Test): Promise<void> {
  const world = await createWorld(t)
  for (const row of await rowsIn(world)) await t.test(row.name, (t) => check(t, world, row))
}

async function check(t: Test, world: World, row: CreateRow): Promise<void> {
  const { name, tenant = DEMO, by = tenant, first, over, says } = row
  const request = async (over: object, tenant: TenantId): Promise<Answer> =>
    world.run(createIntent(tenant, anIntent({ idempotency_key: name, ...over })))
  const earlier = first === undefined ? null : await request(first, by)
  const answer = await request(over, tenant)
  t.equal(codeOf(answer), says.code)
  if (says.code !== 'ok') return void t.equal(errorStatus(says.code, false), says.status)
  const { status } = viewOf<Intent>(answer)
  t.equal(status, says.then)
  const isReplay = earlier?.ok === true && by === tenant
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
  return [
    { name: 'the minimum', over: { partner_user_id: 'u', amount_usd_cents: 1 }, says: ok },
    { name: 'the maximum', over: { amount_usd_cents: 100_000_000 }, says: ok },
    { name: 'the other corridor', over: { corridor: 'vn_vietqr' }, says: ok },
    { name: 'an unknown corridor', over: { corridor: 'us_ach' }, says: disabled },
    { name: 'not verified', over: UNVERIFIED, says: UNSATISFIED },
    { name: 'no KYC', over: { kyc_attestation: null }, says: UNSATISFIED },
    { name: 'not clean', over: UNCLEAN, says: UNSATISFIED },
    { name: 'no screening', over: { sanctions_attestation: null }, says: UNSATISFIED },
    {
      name: 'a corridor that is not enabled, before attestations',
      tenant: thaiOnly,
      over: { corridor: 'vn_vietqr', ...UNVERIFIED },
      says: disabled,
    },
    { name: 'suspended, before the corridor', tenant: suspended, over: {}, says: SUSPENDED },
    { name: 'a key again', first: {}, over: {}, says: ok },
    { name: 'a key, other amount', first: {}, over: { amount_usd_cents: 1 }, says: CONFLICT },
    { name: 'a key, other user', first: {}, over: { partner_user_id: 'x' }, says: CONFLICT },
    { name: 'a key, other corridor', first: {}, over: { corridor: 'vn_vietqr' }, says: CONFLICT },
    {
      name: 'a key, other attestation',
      first: {},
      over: { sanctions_attestation: { clean: true, screened_at: '2026-11-20T00:00:01Z' } },
      says: CONFLICT,
    },
    {
      name: 'a key, and invalid: conflict before all else',
      first: {},
      over: { amount_usd_cents: 0, ...UNCLEAN },
      says: CONFLICT,
    },
    {
      name: "another tenant's key",
      by: thaiOnly,
      first: {},
      over: { amount_usd_cents: 1 },
      says: ok,
    },
    { name: 'the key of a refusal', first: UNCLEAN, over: {}, says: ok },
  ]
}
