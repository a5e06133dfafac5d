/**
 * Commands about the shards of a cluster.
 *
 * - A move is complete when another processor serves the shard; the command waits for it. While
 *   that is not known the exit code is 1: a script must not stop the machine of the former owner.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ShardList__Output as ShardList } from '../../../protos/types/causeway/operator/v1/ShardList.js'
import type { ShardRecord__Output as ShardRecord } from '../../../protos/types/causeway/operator/v1/ShardRecord.js'
import type { ShardsDefinition } from '../../../protos/types/causeway/operator/v1/Shards.js'
import type { ProtoGrpcType as ShardsProto } from '../../../protos/types/shards.js'
import type { WaitingProcessor__Output as WaitingProcessor } from '../../../protos/types/causeway/operator/v1/WaitingProcessor.js'
import { contracts } from '../../grpc/contracts.js'
import { actorOf, CHANGE, deciderOf } from '../cli/actor.js'
import { callsToOne, type Calls } from '../calls/calls.js'
import { CommandFault, type CliCommand, type Context } from '../cli/command.js'
import { table } from '../cli/terminal.js'

const MOVED_WITHIN_LOOKS = 120
const LOOK_EVERY_MS = 250

type ShardsClient = Calls<ShardsDefinition>

/** Every processor that answers can list all shards. */
export function knownAddresses({ access }: Context): readonly string[] {
  if (access.shards === undefined) return [access.address]
  const found = [...access.shards.reached.values()]
  if (found.length === 0) throw new CommandFault('No processor of PROCESSORS answers.')
  return found
}

const connectShards = ({ access, clock }: Context, address: string): ShardsClient =>
  callsToOne(contracts<ShardsProto>().causeway.operator.v1.Shards, { ...access, address }, clock)

export async function withShards<T>(
  context: Context,
  run: (shards: ShardsClient) => Promise<T>,
  address?: string,
): Promise<T> {
  const [first = ''] = address === undefined ? knownAddresses(context) : [address]
  const shards = connectShards(context, first)
  try {
    return await run(shards)
  } finally {
    shards.close()
  }
}

export const listShards = (context: Context): Promise<ShardList> =>
  withShards(context, (shards) => shards.call('List', {}))

export const shardList: CliCommand = {
  usage: 'shard list',
  about: 'all shards and their owners, and the processors that wait for one',
  run: async (context) => {
    const list = await listShards(context)
    return { value: list, lines: linesOf(list) }
  },
}

function linesOf({ data, waiting }: ShardList): string[] {
  const head = ['shard', 'processor', 'address', 'epoch', 'partners', 'moves', 'settings', 'state']
  const faults = data.map(faultOf).filter((line) => line !== null)
  const spares =
    waiting.length === 0
      ? 'waiting: none, so a lost owner is not replaced'
      : table([WAITING, ...waiting.map(waitingRow)], [2])
  return [table([head, ...data.map(rowOf)], [3, 4, 5, 6]), '', spares, ...faults]
}

const WAITING = ['waiting', 'address', 'gateways', 'takes']

function waitingRow(waiting: WaitingProcessor): string[] {
  const { name, address, gateways, prefers, cannot_take: faults } = waiting
  const first = prefers === undefined ? '' : `, ${prefers} first`
  const not = faults.map(({ shard, reason }) => `; not ${shard}: ${reason}`)
  return [name, address, String(gateways), `any shard${first}${not.join('')}`]
}

function rowOf(record: ShardRecord): string[] {
  const { shard, processor, address, epoch, partners, moves } = record
  return [
    ...[shard, processor || '-', address || '-', epoch, String(partners), moves],
    ...[settingsOf(record), stateOf(record)],
  ]
}

function faultOf({ shard, settings_fault: fault }: ShardRecord): string | null {
  if (fault === undefined || fault === null) return null
  const { version, kind, key, cause } = fault
  return `NO WRITES: ${shard} cannot apply settings version ${version} (${kind} ${key}): ${cause}`
}

/** The version that the shard has applied, of the newest. */
function settingsOf({ settings_version: applied, settings_behind: behind }: ShardRecord): string {
  return behind === '0' ? applied : `${applied} of ${BigInt(applied) + BigInt(behind)}`
}

function stateOf({ moving_to: movingTo, processor, connected, epoch }: ShardRecord): string {
  if (movingTo !== undefined) return `moves to ${movingTo}`
  if (epoch === '0') return 'new'
  if (processor === '') return 'released'
  return connected ? 'owned' : 'owner lost'
}

export const shardCreate: CliCommand = {
  usage: 'shard create SHARD',
  about: 'add an empty shard; a spare takes it after 4 s',
  options: CHANGE,
  run: async (context, [shard = '']) => {
    if (!/^[a-z][a-z0-9_]{0,40}$/.test(shard)) {
      throw new CommandFault(`${shard} is not a shard: lower-case letters, digits, underscores.`)
    }
    const actor = actorOf(context, 'production')
    const created = await withShards(context, (shards) => shards.call('Create', { actor, shard }))
    return { value: created, lines: [table([rowOf(created)], [])] }
  },
}

export const shardMove: CliCommand = {
  usage: 'shard move SHARD',
  about: 'move a shard to a processor that waits for one: --to NAME',
  options: [...CHANGE, 'to'],
  run: async (context, [shard = '']) => {
    const { to } = context.flags
    if (to === undefined) throw new CommandFault('A move needs --to NAME, a processor that waits.')
    const actor = deciderOf(context)
    const list = await withShards(context, async (shards) => {
      const before = await shards.call('List', {})
      await shards.call('Move', { actor, shard, to })
      return before
    })
    const served = list.data.map(({ address }) => address)
    const addresses = new Set([...knownAddresses(context), ...served])
    addresses.delete('')
    const moved = await movedShard(context, shard, [...addresses])
    if (moved === undefined) {
      const next = `No processor that answers knows yet: see /readyz of ${to}, or shard list.`
      const lines = [`${shard} moves to ${to}.`, next]
      return { value: { shard, moving_to: to }, lines, exitCode: 1 }
    }
    const isDone = moved.processor === to
    const who = isDone ? to : `${moved.processor}, not ${to}`
    return {
      value: moved,
      lines: [`${shard} is served by ${who}, epoch ${moved.epoch}, at ${moved.address}`],
      exitCode: isDone ? 0 : 1,
    }
  },
}

export const settingsSkip: CliCommand = {
  usage: 'settings skip VERSION',
  about: 'pass over a setting for all shards where it cannot be applied',
  options: CHANGE,
  run: async (context, [version = '']) => {
    if (!/^[1-9]\d{0,14}$/.test(version)) {
      throw new CommandFault(`${version} is not a version of the settings: see shard list.`)
    }
    const actor = deciderOf(context)
    const skipped = await withShards(context, (shards) =>
      shards.call('SkipSetting', { actor, version }),
    )
    const { kind, key, value } = skipped
    const what = `settings version ${version}, ${kind} ${key} ${value}`
    return { value: skipped, lines: [`${what}: shards that cannot apply it pass it over`] }
  },
}

/** Undefined means that no processor answers, or the move does not end in time. */
async function movedShard(
  context: Context,
  shard: string,
  addresses: readonly string[],
): Promise<ShardRecord | undefined> {
  for (let looks = 1; looks <= MOVED_WITHIN_LOOKS; looks++) {
    const lists = await Promise.all(
      addresses.map((address) =>
        withShards(context, (shards) => shards.call('List', {}), address).catch(() => undefined),
      ),
    )
    const seen = lists.find((list) => list !== undefined)
    const found = seen?.data.find((record) => record.shard === shard)
    if (found !== undefined && found.moving_to === undefined) return found
    if (lists.every((list) => list === undefined) && looks > 20) return undefined
    await sleep(LOOK_EVERY_MS)
  }
  return undefined
}
