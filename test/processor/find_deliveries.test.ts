/** `find` shows every delivery, also when they do not fit into one answer of a webhook pool. */
import t from 'tap'
import { accepted, refused } from '../../src/base/errors.js'
import { find } from '../../src/processor/queries/find.js'
import { createWorld, viewOf, type World } from '../support/world.js'
import { pay, read } from './scenarios.js'

const ENDPOINTS = ['we_1', 'we_2']
const REFERENCE = 'invoice 2291'

interface Found {
  readonly data: readonly {
    readonly events: readonly { readonly deliveries: readonly { readonly id: string }[] }[]
  }[]
  readonly deliveries_unknown: boolean
}

/** A pool that answers with at most `rowsMax` deliveries, and once with none after `answers`. */
function aPool(rowsMax: number, answers = Number.POSITIVE_INFINITY) {
  let requests = 0
  const requestAll = async (_subject: string, { event_ids }: { event_ids?: string[] }) => {
    if (event_ids === undefined) return accepted([])
    requests += 1
    if (requests > answers) return refused('timeout')
    const rows = event_ids.flatMap((event_id) =>
      ENDPOINTS.map((endpoint_id) => ({
        ...{ id: `${event_id} ${endpoint_id}`, event_id, endpoint_id, state: 'delivered' },
        ...{ reason: '', attempts: [] },
      })),
    )
    return accepted([{ deliveries: rows.slice(0, rowsMax), more: rows.length > rowsMax }])
  }
  return { requestAll, missingPools: [], requests: () => requests }
}

async function foundIn(world: World, pool: ReturnType<typeof aPool>) {
  const query = find(pool as never, world.memory(), REFERENCE)
  const { data, deliveries_unknown } = viewOf<Found>(await read(world, query))
  const perEvent = data.flatMap(({ events }) => events.map(({ deliveries }) => deliveries.length))
  return { perEvent, isUnknown: deliveries_unknown }
}

t.test('deliveries that one answer cannot hold are asked for again', async (t) => {
  const world = await createWorld(t)
  for (let n = 0; n < 3; n++) await pay(world, { reference: REFERENCE })
  const whole = { perEvent: Array<number>(6).fill(2), isUnknown: false }
  const roomy = aPool(12)
  t.same(await foundIn(world, roomy), whole)
  t.equal(roomy.requests(), 1)
  t.same(await foundIn(world, aPool(5)), whole)
  t.same(await foundIn(world, aPool(2)), whole)

  const cut = await foundIn(world, aPool(1))
  t.same(cut, { perEvent: Array<number>(6).fill(1), isUnknown: true }, 'some are not shown')
  const silent = await foundIn(world, aPool(2, 3))
  t.equal(silent.isUnknown, true, 'nor those of a pool that stopped to answer')
})
