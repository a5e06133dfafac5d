/**
 * One intent for a row of a table: a new user and a new intent in a world shared by the rows, and
 * the commands on it under short names.
 *
 * Does not own: the expectations (intent_tables).
 */
import { instant } from '../../src/base/clock.js'
import { tenantOf, type IntentId, type PartnerId, type TenantId } from '../../src/base/ids.js'
import { USD } from '../../src/money/currency.js'
import { money } from '../../src/money/money.js'
import type { Command } from '../../src/processor/cycle/command.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { confirmIntent } from '../../src/processor/commands/intents/intent_confirm.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { getIntent } from '../../src/processor/commands/intents/intent_get.js'
import { getReceipt, mintReceipt } from '../../src/processor/commands/intents/intent_receipt.js'
import { refundIntent } from '../../src/processor/commands/intents/intent_refund.js'
import { remintSession } from '../../src/processor/commands/intents/intent_remint.js'
import { scanIntent } from '../../src/processor/commands/intents/intent_scan.js'
import { fireIntentTimer } from '../../src/processor/commands/rail_reports/timer_fire.js'
import { stagePartner } from '../../src/processor/changes/directory.js'
import { depositFunds } from '../../src/processor/changes/funds.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import type { PartnerEntry } from '../../src/processor/cache/tenant_directory.js'
import { thai, vietnamese } from '../qr/payloads.js'
import { anIntent, sessionOf } from '../support/requests.js'
import { DEMO, viewOf, type World } from '../support/world.js'

export const THAI = { payload: thai(), account: '0066812345678', currency: 'THB' } as const
const VIET = { payload: vietnamese(), account: '257678859', currency: 'VND' } as const

export type Intent = Readonly<Record<string, unknown>> & {
  readonly intent_id: IntentId
  readonly status: string
  readonly quote?: { readonly quote_id: string; readonly amount_usd_cents: number }
}

export interface Lifecycle {
  readonly world: World
  readonly tenant: TenantId
  readonly user: string
  readonly id: IntentId
  /** The commands themselves. */
  readonly calls: ReturnType<typeof callsOn>
  scan(amount?: string | null, over?: object): Promise<Answer>
  confirm(over?: object): Promise<Answer>
  cancel(): Promise<Answer>
  remint(over?: object): Promise<Answer>
  refund(key?: string | null): Promise<Answer>
  get(): Promise<Answer>
  receipt(user?: string): Promise<Answer>
  mintReceipt(): Promise<Answer>
  see(): Promise<Intent>
  /** The deadline's timer, and any other that is due. */
  timer(): Promise<Answer>
  executed(): Promise<void>
  refused(): Promise<void>
  returned(): Promise<void>
  recallRefused(): Promise<void>
  /** Another intent of the same user. */
  another(over?: object): Promise<Lifecycle>
  /** The same calls for another tenant, or on another id. */
  as(other: { tenant?: TenantId; id?: string }): Lifecycle
}

export interface LifecycleOptions {
  readonly tenant?: TenantId
  readonly corridor?: 'th_promptpay' | 'vn_vietqr'
  readonly user?: string
  readonly over?: object
}

let users = 0

export async function beginLifecycle(
  world: World,
  options: LifecycleOptions = {},
): Promise<Lifecycle> {
  const { tenant = DEMO, corridor = 'th_promptpay', over = {} } = options
  users += 1
  const user = options.user ?? `user-${users}`
  const request = anIntent({
    partner_user_id: user,
    corridor,
    amount_usd_cents: 100_000_000,
    ...over,
  })
  const { intent_id: id } = viewOf<Intent>(await world.run(createIntent(tenant, request)))
  return lifecycleOf(world, tenant, user, corridor, id)
}

function lifecycleOf(
  world: World,
  tenant: TenantId,
  user: string,
  corridor: 'th_promptpay' | 'vn_vietqr',
  id: IntentId,
): Lifecycle {
  const code = corridor === 'th_promptpay' ? THAI : VIET
  const calls = callsOn(world, tenant, user, id, code.payload)
  const run = (command: Command): Promise<Answer> => world.run(command)
  const see = async (): Promise<Intent> => viewOf<Intent>(await run(getIntent(tenant, id)))

  const paid = async (status: 'executed' | 'returned'): Promise<void> => {
    const { quote } = await see()
    const amount = BigInt(
      (quote as { local_amount_minor_units?: string }).local_amount_minor_units!,
    )
    const { currency, account } = code
    const execution = { transactionId: 'TX1', amount, currency, destinationAccount: account }
    await world.railReports({ status, id, reportId: null, ...execution })
  }

  return {
    world,
    tenant,
    user,
    id,
    calls,
    scan: (amount, over) => run(calls.scan(amount, over)),
    confirm: (over) => run(calls.confirm(over)),
    cancel: () => run(calls.cancel()),
    remint: (over) => run(calls.remint(over)),
    refund: (key = null) => run(refundIntent(tenant, id, key)),
    get: () => run(getIntent(tenant, id)),
    receipt: (of = user) => run(getReceipt(tenant, id, world.vault.receiptSubject(of))),
    mintReceipt: () => run(mintReceipt(tenant, id)),
    see,
    timer: () => run(calls.timer()),
    executed: () => paid('executed'),
    returned: () => paid('returned'),
    refused: () =>
      world.railReports({ status: 'refused', id, reportId: null, refusal: 'rejected' }),
    recallRefused: () => world.railReports({ status: 'recall_refused', id, reportId: null }),
    another: (over = {}) => beginLifecycle(world, { tenant, corridor, user, over }),
    as: (other) =>
      lifecycleOf(world, other.tenant ?? tenant, user, corridor, (other.id ?? id) as IntentId),
  }
}

function callsOn(
  world: World,
  tenant: TenantId,
  user: string,
  id: IntentId,
  payload: string = THAI.payload,
) {
  return {
    scan: (amount: string | null = '36000', over: object = {}): Command =>
      scanIntent(
        tenant,
        {
          intent_id: id,
          session_jti: 'token-1',
          qr_payload: payload,
          duplicate_confirmed: false,
          ...(amount === null ? {} : { local_amount_minor_units: amount }),
          ...over,
        },
        world.clock.now(),
      ),
    confirm: (over: object = {}): Command =>
      confirmIntent(
        tenant,
        { intent_id: id, session_jti: 'token-1', ...over },
        instant(world.clock.now()),
      ),
    cancel: (): Command => cancelIntent(tenant, id),
    remint: (over: object = {}): Command =>
      remintSession(tenant, {
        intent_id: id,
        ...sessionOf(anIntent({ partner_user_id: user })),
        ...over,
      }),
    timer: (): Command => fireIntentTimer(id),
  }
}

/** A sandbox tenant like the demo's, except for the given members and its US cents. */
export async function openTenant(
  world: World,
  name: string,
  over: Partial<PartnerEntry>,
  cents = 0n,
): Promise<TenantId> {
  const partner = name as PartnerId
  const tenant = tenantOf(partner, 'sandbox')
  await world.run({
    name: 'open_tenant',
    needs: () => undefined,
    decide: (ctx) => {
      const demo = ctx.memory.partners.get('demo' as PartnerId)
      if (demo === undefined) throw new Error('the demo partner is there')
      stagePartner(ctx, { ...demo, id: partner, ...over })
      if (cents > 0n) depositFunds(ctx, tenant, money(USD, cents))
      return answer({})
    },
  })
  return tenant
}

export const QUOTE_TTL = 300_000
export const INTENT_TTL = 1_800_000

export type Stage = (lifecycle: Lifecycle) => Promise<void>

/** A new intent that has come to the stage. */
export async function intentAt(
  world: World,
  stage: Stage,
  options: LifecycleOptions = {},
): Promise<Lifecycle> {
  const lifecycle = await beginLifecycle(world, options)
  await stage(lifecycle)
  return lifecycle
}

/** Stages of the lifecycle; each builds on the previous one. */
export const scanned: Stage = async (lifecycle) => void viewOf(await lifecycle.scan())

export const authorized: Stage = async (lifecycle) => {
  await scanned(lifecycle)
  viewOf(await lifecycle.confirm())
}

/** Confirmed while the rail is down. */
export const waiting: Stage = async (lifecycle) => {
  lifecycle.world.setRail(false)
  await authorized(lifecycle)
  lifecycle.world.setRail(true)
}

export const captured: Stage = async (lifecycle) => {
  await authorized(lifecycle)
  await lifecycle.executed()
}

export const failed: Stage = async (lifecycle) => {
  await authorized(lifecycle)
  await lifecycle.refused()
}

export const refunded: Stage = async (lifecycle) => {
  await captured(lifecycle)
  await lifecycle.returned()
}

export const cancelled: Stage = async (lifecycle) => void viewOf(await lifecycle.cancel())

/** Past its deadline; its timer has not fired yet. */
export const overdue: Stage = async ({ world }) => world.clock.pass(INTENT_TTL)

export const expired: Stage = async (lifecycle) => {
  await overdue(lifecycle)
  await lifecycle.timer()
}

/** The same user paid 360 baht to the same merchant just before. */
export const paidBefore: Stage = async (lifecycle) => authorized(await lifecycle.another())

/** A user with a used-up day limit. */
export const usedUp: Stage = async (lifecycle) => {
  for (const number of [1, 2, 3, 4]) {
    const other = await lifecycle.another()
    viewOf(await other.scan('5000000', { duplicate_confirmed: number > 1 }))
    viewOf(await other.confirm())
  }
}
