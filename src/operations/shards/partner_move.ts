/**
 * The command that moves a partner to another shard of the cluster.
 *
 * - The move has ended when any processor says so; the command waits for it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { PartnerPlacement__Output as Placement } from '../../../protos/types/causeway/operator/v1/PartnerPlacement.js'
import { actorOf, CHANGE, deciderOf } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { knownAddresses, withShards } from './shard_commands.js'

const ENDED_WITHIN_LOOKS = 120
const LOOK_EVERY_MS = 250

export const partnerMove: CliCommand = {
  usage: 'partner move NAME',
  about: 'move a partner with all its data to another shard: --to SHARD; --check only reports',
  options: [...CHANGE, 'to', 'check'],
  run: async (context, [partner = '']) => {
    const { to, check: check_only = false } = context.flags
    if (to === undefined) throw new CommandFault('A move needs --to SHARD: see shard list.')
    const actor = check_only ? actorOf(context, 'sandbox') : deciderOf(context)
    const [asked, served] = await withShards(context, async (shards) => {
      const list = await shards.call('List', {})
      const placement = await shards.call('MovePartner', { actor, partner, to, check_only })
      return [placement, list.data.map(({ address }) => address)] as const
    })
    const { shard: from, payments, entries, events } = asked
    const what = `${partner} with ${payments} payments, ${entries} entries and ${events} events`
    if (asked.cause !== undefined)
      return { value: asked, lines: [what, `It stays in ${from}: ${asked.cause}`], exitCode: 1 }
    if (from === to && !check_only)
      return { value: asked, lines: [`${partner} stays in ${to}: its move is given up`] }
    if (check_only) return { value: asked, lines: [what, `It can move from ${from} to ${to}.`] }
    const addresses = new Set([...knownAddresses(context), ...served])
    addresses.delete('')
    return ended(await endedMove(context, partner, [...addresses]), what, to)
  },
}

function ended(placement: Placement | undefined, what: string, to: string): Report {
  if (placement === undefined) {
    const next = 'No processor that answers knows yet: see partner move --check, or shard list.'
    return { value: { moving_to: to }, lines: [`${what} moves to ${to}.`, next], exitCode: 1 }
  }
  if (placement.shard === to) return { value: placement, lines: [`${what} is in ${to}`] }
  const cause = placement.cause ?? 'the move has ended'
  return {
    value: placement,
    lines: [what, `It stays in ${placement.shard}: ${cause}`],
    exitCode: 1,
  }
}

/** Undefined means that no processor answers, or the move does not end in time. */
async function endedMove(
  context: Context,
  partner: string,
  addresses: readonly string[],
): Promise<Placement | undefined> {
  // While payments are set apart, it takes as long as there are some.
  for (let looks = 1; looks <= ENDED_WITHIN_LOOKS; looks++) {
    await sleep(LOOK_EVERY_MS)
    const seen = await Promise.all(
      addresses.map((address) =>
        withShards(context, (shards) => shards.call('ShowPartner', { partner }), address).catch(
          () => undefined,
        ),
      ),
    )
    const found = seen.find((each) => each !== undefined)
    if (found !== undefined && found.moving_to === undefined) return found
    if (found?.set_apart !== undefined) looks = 0
  }
  return undefined
}
