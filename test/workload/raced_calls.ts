/**
 * Clients of all gateways that call the same intents, keys and signed requests at once; the
 * history of each object must be explained by a sequential one (test/history).
 *
 * - A call that got no answer in time ends its race: what was recorded until then is checked.
 */
import type { Partner } from '../support/partner.js'
import { intentRace } from '../history/intent_races.js'
import { keyRace } from '../history/payout_races.js'
import type { Racers } from '../history/race.js'
import { nonceRace } from '../history/signed_requests.js'
import type { CheckedClient } from './checked_client.js'
import { startLoop } from './loop.js'

const ROUNDS = 2
const NEXT_AFTER_MS = 200

/**
 * @param gateways connections of the partner, one to each gateway, with its address
 * @param pauseMs after each race
 */
export function startRacedCalls(
  name: string,
  gateways: readonly (readonly [Partner, string])[],
  pauseMs = NEXT_AFTER_MS,
): CheckedClient {
  const violations: string[] = []
  let races = 0
  const [first, ...others] = gateways.map(([partner]) => partner)
  if (first === undefined) throw new Error('no gateway runs')

  const race = async (number: number): Promise<void> => {
    const racers: Racers = {
      ...{ partners: [first, ...others], rounds: ROUNDS, surprises: [] },
      name: `${name} ${number} `,
    }
    const baseUrls = gateways.map(([, baseUrl]) => baseUrl)
    const all = [
      await intentRace(racers),
      keyRace(racers),
      nonceRace(racers, (client) => baseUrls[client % baseUrls.length] ?? ''),
    ]
    await Promise.allSettled(
      all.flatMap(({ run }) => racers.partners.map((_, client) => run(client))),
    )
    races += all.length
    violations.push(...all.flatMap((each) => each.faults()), ...racers.surprises)
  }
  const loop = startLoop(
    (number) => race(number).catch(() => undefined), // an intent is not created in time
    pauseMs,
  )
  return { violations, checked: () => `${races} races`, stop: loop.stop }
}
