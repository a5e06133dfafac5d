/**
 * The operators' calls about shards.
 *
 * - A change is in the operators' log of this processor before it is made.
 * - A move is one statement: the owner and the named processor read it, so it does not depend on
 *   the processor that was called. So is that of a partner.
 */
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import type { Actor__Output as WireActor } from '../../../protos/types/causeway/operator/v1/Actor.js'
import type { ShardRecord } from '../../../protos/types/causeway/operator/v1/ShardRecord.js'
import type { PartnerPlacement } from '../../../protos/types/causeway/operator/v1/PartnerPlacement.js'
import type { ShardsHandlers } from '../../../protos/types/causeway/operator/v1/Shards.js'
import { isPartnerId } from '../../auth/request_shape.js'
import { accepted, invalid, refused, type Outcome } from '../../base/errors.js'
import type { Shard, ShardSettingsFault } from '../../store/cluster/cluster.js'
import type { PartnerPlace } from '../../store/cluster/partner_moves.js'
import type { WaitingProcessor } from '../../store/cluster/waiting.js'
import { SHARD_NAME } from '../../store/postgres/migrate.js'
import { canTake, type ShardAdmin } from '../cluster/member.js'
import { noteAction } from '../commands/operators/action_note.js'
import type { DirectoryService } from './directory_stream.js'
import { grpcError, refusalError } from './grpc_error.js'
import { actingAs, decided, ownWork, type UnaryDependencies } from './unary_handler.js'

const INVALID_SHARD = invalid(
  '/shard',
  'must begin with a letter of a to z and have up to 41 of a to z, 0 to 9 and underscores',
)
const SAME_SHARD = invalid('/to', 'must be another shard than the one that has the partner')

export function shardsService(
  dependencies: UnaryDependencies,
  directory: Pick<DirectoryService, 'own'>,
  cluster?: ShardAdmin,
): ShardsHandlers {
  const inCluster =
    <Request, Response>(
      run: (
        shards: ShardAdmin,
        call: ServerUnaryCall<Request, Response>,
      ) => Promise<Outcome<Response>>,
    ) =>
    (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void => {
      if (cluster === undefined) return callback(grpcError('cluster_not_configured'))
      run(cluster, call).then(
        (outcome) => {
          if (outcome.ok) callback(null, outcome.value)
          else callback(refusalError(outcome))
        },
        () => callback(grpcError('configuration_error')),
      )
    }

  /** @returns the operator's name */
  const noted = async (
    {
      request,
      metadata,
    }: Pick<ServerUnaryCall<{ actor: WireActor | null }, unknown>, 'request' | 'metadata'>,
    action: string,
    subject: string,
  ): Promise<Outcome<string>> => {
    const work = ownWork(actingAs(request.actor, (actor) => noteAction(actor, { action, subject })))
    if (work === null) return refused('invalid_request')
    const answer = await decided(dependencies, metadata, work)
    return answer.ok ? accepted(request.actor?.name ?? '') : refused(answer.code)
  }

  return {
    Show: (_, callback) => callback(null, directory.own()),
    List: inCluster(async (shards) => {
      const [data, candidates] = [await shards.shards(), await shards.candidates()]
      return accepted({
        data: data.map(wireShard),
        candidates: candidates.map(({ name }) => name),
        waiting: candidates.map(wireWaiting),
      })
    }),
    Create: inCluster(async (shards, call) => {
      const { shard } = call.request
      if (!SHARD_NAME.test(shard)) return INVALID_SHARD
      const log = await noted(call, 'create_shard', shard)
      if (!log.ok) return log
      await shards.addShard(shard)
      return shardIn(await shards.shards(), shard)
    }),
    Move: inCluster(async (shards, call) => {
      const { shard: name, to } = call.request
      const found = (await shards.shards()).find(({ shard }) => shard === name)
      if (found === undefined) return refused('shard_not_found')
      const target = await shards.waitingProcessor(to)
      if (target === undefined) return refused('processor_not_waiting')
      if (!canTake(target, name)) return refused('processor_cannot_take')
      const log = await noted(call, 'move_shard', `${name} from ${found.holder} to ${to}`)
      if (!log.ok) return log
      if (!(await shards.requestMove(name, found.epoch, to))) return refused('shard_moving')
      return shardIn(await shards.shards(), name)
    }),
    MovePartner: inCluster(async (shards, call) => {
      const { partner, to, check_only: isCheck } = call.request
      if (!isPartnerId(partner)) return refused('invalid_request')
      const place = await shards.partnerPlace(partner)
      if (place === undefined) return refused('partner_not_found')
      const from = place.shard
      if (from === to && !isCheck && place.copied !== null) {
        const log = await noted(call, 'keep_partner', `${partner} ${from}`)
        if (!log.ok) return log
        return (await shards.keepPartner(partner))
          ? accepted({ partner, shard: from })
          : refused('shard_moving')
      }
      const served = (await shards.shards()).filter(({ isConnected }) => isConnected)
      if (![from, to].every((name) => served.some(({ shard }) => shard === name)))
        return refused('shard_not_found')
      if (from === to) return SAME_SHARD
      const move = { partner, from, to }
      const { obstacle: cause, isLarge, size } = await shards.checkPartnerMove(move)
      if (cause !== null || isCheck)
        return accepted({ partner, shard: from, ...size, ...why(cause) })
      const log = await noted(call, 'request_partner_move', `${partner} ${from} ${to}`)
      if (!log.ok) return log
      const by = { actor: log.value, reason: call.request.actor?.reason ?? '' }
      const request = isLarge ? shards.requestPartnerCopy : shards.requestPartnerMove
      if (!(await request(move, by))) return refused('shard_moving')
      return accepted({ partner, shard: from, moving_to: to, ...size })
    }),
    ShowPartner: inCluster(async (shards, call) => {
      const { partner } = call.request
      const place = await shards.partnerPlace(partner)
      if (place === undefined) return refused('partner_not_found')
      return accepted(placed(partner, place))
    }),
    SkipSetting: inCluster(async (shards, call) => {
      const version = Number(call.request.version)
      const isFault = ({ settingsFault }: Shard): boolean => settingsFault?.version === version
      if (!(await shards.shards()).some(isFault)) return refused('setting_not_blocked')
      const log = await noted(call, 'skip_setting', `version ${version}`)
      if (!log.ok) return log
      const by = { actor: log.value, reason: call.request.actor?.reason ?? '' }
      const skipped = await shards.skipSetting(version, by)
      if (skipped === null) return refused('setting_not_blocked')
      const { kind, key, value } = skipped
      return accepted({ version, kind, key, value })
    }),
  }
}

function shardIn(shards: readonly Shard[], name: string): Outcome<ShardRecord> {
  const found = shards.find(({ shard }) => shard === name)
  return found === undefined ? refused('shard_not_found') : accepted(wireShard(found))
}

const placed = (
  partner: string,
  { shard, movingTo, copied, cause }: PartnerPlace,
): PartnerPlacement => ({
  ...{ partner, shard },
  ...(movingTo === null ? {} : { moving_to: movingTo }),
  ...(copied === null ? {} : { set_apart: copied }),
  ...why(cause),
})

const why = (cause: string | null): { readonly cause?: string } => (cause === null ? {} : { cause })

const wireShard = ({ shard, holder, isConnected, address, ...counts }: Shard): ShardRecord => ({
  shard,
  processor: holder,
  connected: isConnected,
  address,
  epoch: counts.epoch,
  partners: counts.partners,
  ...(counts.moveTo === null ? {} : { moving_to: counts.moveTo }),
  moves: counts.moves,
  settings_version: counts.settingsVersion,
  settings_behind: counts.settingsBehind,
  ...(counts.settingsFault === null ? {} : { settings_fault: wireFault(counts.settingsFault) }),
})

const wireWaiting = ({ name, address, prefers, gateways, cannotTake }: WaitingProcessor) => ({
  ...{ name, address, gateways },
  ...(prefers === null ? {} : { prefers }),
  cannot_take: Object.entries(cannotTake).map(([shard, reason]) => ({ shard, reason })),
})

const wireFault = ({ version, kind, key, cause }: ShardSettingsFault) => ({
  version,
  kind,
  key,
  cause,
})
