/**
 * Reads the events of one tenant by their numbers through every gateway.
 *
 * - Each page begins with the event that was read last, so a gateway that answers with an older
 *   state, or an event that has changed, is seen.
 * - Numbers have no gaps but that of a restore, which skips SKIPPED_POSITIONS or more. No id comes
 *   twice.
 */
import { systemPause } from '../../src/base/clock.js'
import { SKIPPED_POSITIONS } from '../../src/processor/commands/operators/recovery_release.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { Partner } from '../support/partner.js'
import type { CheckedClient } from '../workload/checked_client.js'
import { startLoop } from '../workload/loop.js'

interface Listed {
  readonly sequence: number
  readonly event: { readonly id: string }
}

const PAGE = 100
const NEXT_AFTER_MS = 100

export interface EventReader extends CheckedClient {
  /** Resolves when every event was read. @throws Error when the service does not answer */
  readToEnd(): Promise<void>
  readonly ids: ReadonlySet<string>
}

/** @param pauseMs after each page but a full one */
export function startEventReader(
  name: string,
  gateways: readonly Partner[],
  random: SeededRandom,
  pauseMs = NEXT_AFTER_MS,
): EventReader {
  const violations: string[] = []
  const ids = new Set<string>()
  let last: Listed | undefined

  const next = (found: Listed): void => {
    const { sequence, event } = found
    const before = last?.sequence ?? 0
    const isNext = sequence === before + 1 || sequence > before + SKIPPED_POSITIONS
    if (!isNext) violations.push(`${name}: event ${sequence} ${event.id} follows ${before}`)
    if (ids.has(event.id)) violations.push(`${name}: event ${event.id} came twice`)
    ids.add(event.id)
    last = found
  }

  /** @returns the number of new events. Undefined means no answer */
  const read = async (): Promise<number | undefined> => {
    const known = last
    const path = `/v1/events?after=${(known?.sequence ?? 1) - 1}&limit=${PAGE}`
    const answer = await random
      .pick(gateways)
      .request('GET', path)
      .catch(() => undefined)
    if (answer?.status !== 200) return undefined
    const { data } = answer.body as { readonly data: readonly Listed[] }
    const [again] = data
    const isSame = known === undefined || again?.event.id === known.event.id
    if (!isSame) {
      const found = again === undefined ? 'nothing' : `${again.sequence} ${again.event.id}`
      violations.push(`${name}: event ${known.sequence} ${known.event.id} became ${found}`)
      return undefined
    }
    const fresh = known === undefined ? data : data.slice(1)
    for (const each of fresh) next(each)
    return fresh.length
  }

  const loop = startLoop(async () => {
    if ((await read()) !== PAGE - 1) await systemPause(pauseMs)
  })
  return {
    ...{ violations, ids },
    checked: () => `${ids.size} events`,
    stop: loop.stop,
    readToEnd: async () => {
      for (;;) {
        const count = await read()
        if (count === undefined) throw new Error(`the events of ${name} cannot be read`)
        if (count === 0) return
      }
    },
  }
}
