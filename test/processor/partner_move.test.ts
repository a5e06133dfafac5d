/** A move of a partner that cannot begin is given up: no owner ends for it. */
import t from 'tap'
import { systemPause } from '../../src/base/clock.js'
import {
  createPartnerMoves,
  type PartnerMovesDependencies,
} from '../../src/processor/cluster/partner_move.js'
import type { PartnerMove, PendingMove } from '../../src/store/cluster/partner_moves.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/world.js'

const SHARD = 'books_1'
const LEAVES = { from: SHARD, to: 'books_2', isBegun: false }
const COMES = { from: 'books_2', to: SHARD, isBegun: true }

for (const [what, way] of Object.entries({ leaves: LEAVES, comes: COMES })) {
  t.test(`the server has no session left for a partner that ${what}`, async (t) => {
    let pending: PendingMove[] = [{ partner: 'demo', held: null, ...way }]
    const causes: string[] = []
    const dependencies: Partial<PartnerMovesDependencies> = {
      shard: SHARD,
      connect: () => Promise.reject(new Error('sorry, too many clients already')),
      moves: {
        pendingPartnerMoves: () => Promise.resolve(pending),
        giveUpPartnerMove: ({ partner }: PartnerMove, cause: string) => {
          pending = []
          causes.push(`${partner}: ${cause}`)
          return Promise.resolve(true)
        },
      } as unknown as PartnerMovesDependencies['moves'],
      failed: (reason, error) => t.fail(reason, { error }),
      elapsed: () => performance.now(),
      pause: (_, signal) => systemPause(5, signal),
      log: SILENT_LOG,
    }
    const moves = createPartnerMoves(dependencies as PartnerMovesDependencies)
    moves.start()
    await eventually('it is given up', () => causes.length > 0)
    await moves.stop()
    t.match(causes, [/^demo: .*sorry, too many clients already$/])
  })
}
