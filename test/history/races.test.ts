/**
 * Clients of two gateways race for a balance, keys, signed requests and intents while processes are
 * killed; every history must be explained by a sequential object.
 */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { connectOperator } from '../../src/operations/calls/operator_client.js'
import { assertCleanAudit } from '../support/audit.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { partnerOf, type Partner } from '../support/partner.js'
import { startStack } from '../support/stack.js'
import { intentRace } from './intent_races.js'
import { balanceRace, keyRace } from './payout_races.js'
import type { Racers } from './race.js'
import { nonceRace } from './signed_requests.js'

const CLIENTS = 4
const ROUNDS = 12
const KILLS = ['processor', 'gateway-1', 'processor', 'gateway-2'] as const

const stack = await startStack({
  t,
  settings: { GATEWAYS: '2', RATE_LIMIT: 'off', RAIL_DELAY_MS: '50' },
})

/** A partner without funds, so that its balance can be too low. */
async function poorPartner() {
  const operator = connectOperator(operatorAccessOf(stack), systemClock)
  const made = await operator.call('CreatePartner', {
    ...{ actor: { reason: 'a test of races' }, partner_id: 'poor' },
    ...{ no_funds: true, corridors: [] },
  })
  operator.close()
  return { keyId: made.sandbox_key?.key_id ?? '', secret: made.sandbox_key?.secret ?? '' }
}

const racersOf = (connect: () => Partner): Racers => ({
  partners: [connect(), ...Array.from({ length: CLIENTS - 1 }, connect)],
  rounds: ROUNDS,
  surprises: [],
})

t.test('clients of two gateways, while each process is killed', async (t) => {
  const key = await poorPartner()
  const poor = racersOf(() => partnerOf(stack.sandbox, key))
  const rich = racersOf(() => stack.partner)
  const races = [
    await balanceRace(poor),
    keyRace(rich),
    nonceRace(rich, () => stack.baseUrl),
    await intentRace(rich),
  ]
  let isDone = false
  const all = Promise.all(races.flatMap(({ run }) => rich.partners.map((_, client) => run(client))))
  const done = all.finally(() => (isDone = true))
  done.catch(() => undefined)

  const killed: string[] = []
  for (const process of KILLS) {
    await stack.untilServing()
    if (isDone) break
    const pid = stack.pidOf(process)
    stack.kill(process)
    killed.push(process)
    // Readiness may not have noticed the end yet, and its successor is what is killed next.
    await eventually(`${process} runs again`, () => stack.pidOf(process) !== pid)
  }
  await done
  t.same([...poor.surprises, ...rich.surprises], [], 'no answer but those of a race')
  t.ok(killed.length > 0, `killed meanwhile: ${killed.join(', ')}`)
  for (const race of races) {
    t.same(race.faults(), [])
    t.ok(race.hasEveryOutcome(), 'each outcome was seen')
  }
})

t.test('the audit is clean', async (t) => {
  await stack.untilServing()
  await assertCleanAudit(t, stack.dataDir)
})
