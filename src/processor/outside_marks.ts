/**
 * What others have seen of these books: the bus, the webhook pools, the gateways and the rails.
 * Each mark is compared with the books (recovery).
 *
 * - Bus and pools have the events of all shards: only one of these books is compared.
 */
import { readRestoredMark, removeRestoredMark } from '../files/backup_marks.js'
import { systemPause } from '../base/clock.js'
import { openGrpcTls, type GrpcTls } from '../grpc/tls.js'
import { environmentOf, partsOfTenant, type EffectId, type TenantId } from '../base/ids.js'
import type { Logger } from '../base/log.js'
import { disguisedSandboxFault, sandboxRailFault } from '../settings/sandbox_in_production.js'
import { dataFile, type Settings } from '../settings/settings.js'
import { FILES, highWaterOf } from '../base/subjects.js'
import { connectRail, type ConnectedRail } from '../rails/client.js'
import { SANDBOX_RAIL } from '../rails/rail.js'
import type { ConfiguredRail } from '../rails/rails_file.js'
import type { Store } from '../store/store.js'
import { createRecovery, REQUESTED, type Recovery } from './background/recovery.js'
import type { Memory } from './cache/memory.js'
import type { Member } from './cluster/member.js'
import type { BooksClock } from './cycle/books_clock.js'
import type { GatewayProgress } from './servers/command_stream.js'
import type { NewestEvent } from './servers/webhook_control.js'

interface Books {
  readonly settings: Settings
  readonly books: Store
  readonly member: Member | undefined
  readonly log: Logger
}

/** Whether the books may be written, and in which mode this process runs. */
export async function openRecovery(
  { settings, books, member, log }: Books,
  { rails, clock }: { readonly rails: readonly ConfiguredRail[]; readonly clock: BooksClock },
): Promise<Recovery> {
  const restoredFile = dataFile(settings, FILES.restored)
  return createRecovery({
    books,
    ...(member === undefined
      ? { highWaterFile: dataFile(settings, FILES.highWater) }
      : {
          highWaterFile: dataFile(settings, highWaterOf(member.shard)),
          formerHighWaterFile: dataFile(settings, FILES.highWater),
          publishedEpoch: member.publishedEpoch,
        }),
    rails: rails.map(({ name }) => name),
    requestedBy: await recoveryCause(settings, books, restoredFile),
    onEntered: () => removeRestoredMark(restoredFile),
    clock,
    pause: systemPause,
    log,
  })
}

/** Why this start begins recovery mode. */
async function recoveryCause(
  settings: Settings,
  books: Store,
  restoredFile: string,
): Promise<string | undefined> {
  const mark = readRestoredMark(restoredFile)
  if (mark === undefined) {
    const copiedAt = await books.copiedAt()
    if (copiedAt !== null) return `the books are those of the backup of ${copiedAt}`
    return settings.RECOVERY === 'yes' ? REQUESTED : undefined
  }
  const { booksId, snapshotAt } = mark
  if (booksId === null || booksId === books.marks.progress().booksId) {
    return `the backup of ${snapshotAt} was restored`
  }
  return refuseToServe(
    `${restoredFile} is of other books: restore the backup again, into an empty DATA_DIR`,
  )
}

/** As the rail names these books. */
export const shardAtRail = ({
  settings,
  member,
}: Pick<Books, 'settings' | 'member'>): { readonly shard?: string } =>
  settings.STORE_URL === '' ? {} : { shard: member?.shard ?? settings.SHARD }

interface RailContext {
  readonly tls: GrpcTls
  readonly recovery: Recovery
  readonly memory: Pick<Memory, 'pauses'>
}

/** A rail is used once its newest instruction is in the books. */
export function connectToRail(
  { name, address, token, tls: files, environments }: ConfiguredRail,
  owned: Books,
  { tls, recovery, memory }: RailContext,
): ConnectedRail {
  const { settings, books, log } = owned
  const faultOfSandbox = (): string | undefined =>
    sandboxRailFault(settings) ??
    (environments.includes('production') ? disguisedSandboxFault(settings, name) : undefined)
  return connectRail({
    ...{ name, address, token, log },
    ...shardAtRail(owned),
    tls: files === null ? tls : openGrpcTls(files, log),
    admit: ({ name: kind, newestInstruction }) => {
      const fault = kind === SANDBOX_RAIL ? faultOfSandbox() : undefined
      if (fault !== undefined) refuseToServe(fault)
      return recovery.admitRail(name, newestInstruction)
    },
    newestExecuted: async () => {
      const found = await books.marks.newestExecuted(name)
      if (found === null) return null
      const { id, tenant } = found
      return { id: id as EffectId, environment: environmentOf(tenant as TenantId) }
    },
    acceptsLoss: () => memory.pauses.has(`rail ${name}`),
  })
}

function refuseToServe(fault: string): never {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}

export interface OutsideMarks {
  /** @param isForeign another installation uses its stream */
  admitBus(newest: NewestEvent | null, isForeign: boolean): Promise<boolean>
  /** A pool does not wait for the comparison. */
  comparePool(number: number, newest: NewestEvent | null): void
  /** The marks that gateways carry from one owner of the books to the next. */
  readonly gateways: GatewayProgress
}

export function createOutsideMarks(
  { settings, books, member, log }: Books,
  { recovery, memory }: { readonly recovery: Recovery; readonly memory: Memory },
): OutsideMarks {
  const shard = member?.shard ?? settings.SHARD

  /** The event's id if it is of these books, else null. */
  async function ownEvent(newest: NewestEvent | null): Promise<string | null> {
    if (newest === null || member === undefined) return newest?.id ?? null
    if (newest.tenant === undefined) return null
    const { partner } = partsOfTenant(newest.tenant)
    // Restored books can lack a partner that is placed in this shard.
    const isOwn =
      memory.partners.has(partner) || (await member.whereIs(partner))?.shard === member.shard
    return isOwn ? newest.id : null
  }

  return {
    admitBus: async (newest, isForeign) => recovery.admitBus(await ownEvent(newest), isForeign),
    comparePool: (number, newest) => {
      ownEvent(newest)
        .then((id) => recovery.admitPool(number, id))
        .catch((error: unknown) =>
          log.error(
            { error, pool: number },
            'failed to compare the newest event of a webhook pool',
          ),
        )
    },
    gateways: {
      mark: () => {
        const { booksId, epoch, lastBatch } = books.marks.progress()
        return { shard, books_id: booksId, epoch, batch: lastBatch }
      },
      shown: (marks) => {
        for (const mark of marks) {
          if (mark.shard !== shard) continue
          const [epoch, lastBatch] = [Number(mark.epoch), Number(mark.batch)]
          recovery
            .admitGateway({ booksId: mark.books_id, epoch, lastBatch })
            .catch((error: unknown) => log.warn({ error }, 'a mark of a gateway is not compared'))
        }
      },
    },
  }
}
