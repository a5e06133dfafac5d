/** Moves of shards. */
import { withShards } from '../session/uplink.js'
import { actorOf, done, type Action } from './action.js'

export const SHARD_ACTIONS: Readonly<Record<string, Action>> = {
  /** Answered before the other processor serves: the page follows it. */
  'move-shard': async (ctx) => {
    const [shard, to] = [ctx.field('shard'), ctx.field('to')]
    await withShards(ctx.clients, (shards) =>
      shards.call('Move', { actor: actorOf(ctx), shard, to }),
    )
    return done(`${shard} moves to ${to}. This page shows when it is served there.`)
  },
}
