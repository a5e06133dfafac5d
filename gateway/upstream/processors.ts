/**
 * The connections to several processors: a command stream and a directory stream to each, and the
 * routing of commands by tenant.
 *
 * Does not own: the routing table (partner_routing.ts), a single stream (processor_client.ts).
 *
 * - A command is sent to the processor that announces its partner. Without one, or without a stream
 *   to it, the command settles as `configuration_error`, and so do those in flight when a stream
 *   breaks. Other processors' commands are not affected.
 * - When a processor withdraws a partner, commands of the partner are held until its next owner has
 *   announced it and has an open command stream, for at most HOLD_WITHIN_MS. So is a command that
 *   was answered `not_here`: nothing was decided.
 * - Any other command that was sent is never sent again.
 * - The addresses that processors name are used like the configured ones, with the same checks of
 *   TLS. While a directory stream is open, those of broken ones do not count.
 * - A held command uses no capacity of the request scheduler, which all processors share.
 * - A processor that waits for a shard has both streams too, so that it knows which gateways reach
 *   it. It serves nobody, and does not count as up.
 */
import type { Metadata } from '@grpc/grpc-js'
import type { Command } from '../../protos/types/causeway/internal/v1/Command.js'
import { QUEUE_MAX } from '../../src/base/constants.js'
import { SECOND, type Clock } from '../../src/base/clock.js'
import type { GrpcTls } from '../../src/grpc/tls.js'
import { partsOfTenant, tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'
import type { Logger } from '../../src/base/log.js'
import { openDirectoryStream, type DirectoryStream } from './directory_stream.js'
import type { Directory } from '../authentication/partners.js'
import { createKnownAddresses } from './known_addresses.js'
import { createPartnerRouting } from './partner_routing.js'
import { createProgressMarks } from './progress_marks.js'
import { createHeldCommands, type HeldCommands, type Submit } from './held_commands.js'
import {
  createProcessorClient,
  type ProcessorClient,
  type StreamClient,
} from './processor_client.js'
import type { PendingCommand } from './pending_command.js'

/** A shard that moves has its next owner within a second or two. */
const HOLD_WITHIN_MS = 2 * SECOND
const HELD_MAX = QUEUE_MAX

export interface ProcessorState {
  readonly address: string
  /** Empty means that it has none. */
  readonly shard: string
  readonly epoch: number
  /** It serves: its command stream and its directory stream are open. */
  readonly up: boolean
  /** It is reached, and waits for a shard. */
  readonly waiting: boolean
}

export interface ShardState {
  readonly shard: string
  /** A processor that has it is up. */
  readonly routed: boolean
}

export interface Processors {
  readonly client: ProcessorClient
  readonly directory: Directory
  /** By address. */
  states(): readonly ProcessorState[]
  /** Every known shard of the cluster, by name. */
  shards(): readonly ShardState[]
  /**
   * Connects to these addresses and to those that processors name. A removed address is
   * disconnected once its stream has ended.
   */
  setAddresses(addresses: readonly string[]): void
  close(): void
}

export interface ProcessorsOptions {
  readonly tls: GrpcTls
  readonly metadata: Metadata
  readonly clock: Clock
  readonly log: Logger
  /** Default: HOLD_WITHIN_MS. */
  readonly holdWithinMs?: number
  /** Default: the network, and the time of this machine. */
  readonly ports?: ProcessorPorts
}

export interface ProcessorPorts {
  readonly openClient: typeof createProcessorClient
  readonly openDirectory: typeof openDirectoryStream
  /** @returns cancels the call */
  after(ms: number, call: () => void): () => void
}

const NETWORK: ProcessorPorts = {
  openClient: createProcessorClient,
  openDirectory: openDirectoryStream,
  after: (ms, call) => {
    const timer = setTimeout(call, ms).unref()
    return () => clearTimeout(timer)
  },
}

interface Link {
  readonly client: StreamClient
  readonly directory: DirectoryStream
  /** The addresses that it named last. */
  named: readonly string[]
}

/** Commands of partners without a processor, held until they have one. */
interface Interval {
  readonly held: HeldCommands
  readonly cancel: () => void
}

export function createProcessors(options: ProcessorsOptions): Processors {
  const { clock, log, holdWithinMs = HOLD_WITHIN_MS, ports = NETWORK } = options
  const links = new Map<string, Link>()
  const marks = createProgressMarks()
  const intervals = new Map<PartnerId, Interval>()

  const submit: Submit = (command, pending, bodyBytes = 0) => {
    const owner = routing.ownerOf(command.tenant ?? '')
    if (owner === undefined || (!owner.open && intervals.has(partnerOf(command))))
      return hold(command, pending, bodyBytes)
    if (!owner.open) pending.suspended?.()
    const budgetMs = command.budget_ms ?? 0
    const sentAt = clock.now()
    const sent: PendingCommand = {
      startedAt: pending.startedAt,
      settle: (code, ...reply) => {
        if (code !== 'not_here') return pending.settle(code, ...reply)
        command.budget_ms = budgetMs - (clock.now() - sentAt)
        if (command.budget_ms > 0) resubmit(owner, command, pending, bodyBytes)
        else pending.settle('timeout', '', false)
      },
      suspended: () => pending.suspended?.(),
    }
    owner.submit(command, sent, bodyBytes)
  }

  const hold = (command: Command, pending: PendingCommand, bodyBytes: number): void => {
    const interval = intervals.get(partnerOf(command))
    if (interval === undefined || interval.held.size >= HELD_MAX) {
      return pending.settle('configuration_error', '', false)
    }
    pending.suspended?.()
    interval.held.add(command, pending, bodyBytes)
  }

  const resubmit = (
    refusedBy: StreamClient,
    command: Command,
    pending: PendingCommand,
    bodyBytes: number,
  ): void => {
    if (routing.ownerOf(command.tenant ?? '') !== refusedBy) {
      return submit(command, pending, bodyBytes)
    }
    const partner = partnerOf(command)
    if (!intervals.has(partner)) intervals.set(partner, openInterval())
    hold(command, pending, bodyBytes)
  }

  const ownerOf = (id: PartnerId): StreamClient | undefined =>
    routing.ownerOf(tenantOf(id, 'sandbox'))

  const openInterval = (): Interval => {
    const held = createHeldCommands(clock, log)
    const cancel = ports.after(holdWithinMs, () => {
      for (const [id, each] of intervals) if (each === interval) intervals.delete(id)
      held.refuse()
    })
    const interval: Interval = { held, cancel }
    return interval
  }

  const ownersChanged = (partners: readonly PartnerId[]): void => {
    const ending = new Set<Interval>()
    let beginning: Interval | undefined
    for (const id of partners) {
      const interval = intervals.get(id)
      const owner = ownerOf(id)
      if (owner !== undefined) {
        if (interval === undefined || !owner.open) continue
        intervals.delete(id)
        ending.add(interval)
      } else if (interval === undefined) {
        intervals.set(id, (beginning ??= openInterval()))
      }
    }
    for (const { held } of ending) held.releaseTo(submit)
    for (const { client } of links.values()) client.releaseHeld(submit)
  }

  const routing = createPartnerRouting<StreamClient>(ownersChanged, (kid) =>
    log.error({ kid }, 'processors have different master keys of one name: tokens fail'),
  )

  const connect = (address: string): Link => {
    const onOpen = (): void =>
      ownersChanged([...intervals.keys()].filter((id) => ownerOf(id) === client))
    const client = ports.openClient({ ...options, address, marks, onOpen })
    routing.add(client)
    const directory = ports.openDirectory(
      { ...options, address },
      {
        opened: () => routing.opened(client),
        updated: (update) => {
          routing.updated(client, update)
          if (update.addresses.length > 0) link.named = update.addresses
          if (update.addresses.length > 0 || update.complete) learnAddresses()
        },
        broke: (reason) => {
          if (routing.statusOf(client).fresh) {
            log.warn({ reason, address }, 'directory stream broke: key changes do not arrive')
          }
          routing.broke(client)
          learnAddresses()
        },
      },
    )
    const link: Link = { client, directory, named: [] }
    return link
  }

  const known = createKnownAddresses(ports.after, () => {
    const addresses = known.all()
    for (const address of addresses) {
      if (!links.has(address)) links.set(address, connect(address))
    }
    for (const [address, link] of links) {
      if (addresses.has(address) || link.client.open) continue
      links.delete(address)
      disconnect(link)
    }
  })

  const learnAddresses = (): void => {
    const open = everyLink().filter(({ client }) => routing.statusOf(client).fresh)
    const named = (open.length > 0 ? open : everyLink()).flatMap((link) => link.named)
    known.name([...new Set(named)].filter(isUsable))
  }

  const isUsable = (address: string): boolean => {
    if (links.has(address)) return true
    try {
      options.tls.channelCredentials(address)
      return true
    } catch (error) {
      log.warn({ address, error }, 'a processor names an address that cannot be used')
      return false
    }
  }

  const disconnect = ({ client, directory }: Link): void => {
    directory.close()
    client.close()
    routing.remove(client)
  }

  const stateOf = ([address, { client }]: [string, Link]): ProcessorState => {
    const { shard, epoch, fresh, isWaiting } = routing.statusOf(client)
    const isReached = client.open && fresh
    return { address, shard, epoch, up: isReached && !isWaiting, waiting: isReached && isWaiting }
  }

  const everyLink = (): readonly Link[] => [...links.values()]

  /** Those of processors that serve. */
  const servingLinks = (): readonly Link[] =>
    everyLink().filter(({ client }) => !routing.statusOf(client).isWaiting)

  return {
    client: {
      submit,
      get open() {
        return servingLinks().some(({ client }) => client.open)
      },
      get inFlight() {
        const held = [...new Set(intervals.values())].map((interval) => interval.held.size)
        return [...everyLink().map(({ client }) => client.inFlight), ...held].reduce(add, 0)
      },
    },
    directory: {
      partners: routing.partners,
      isComplete: routing.isComplete,
      get fresh() {
        return servingLinks().some(({ client }) => routing.statusOf(client).fresh)
      },
    },
    states: () => [...links].map(stateOf),
    shards: () =>
      [...routing.shards()]
        .map(([shard, owners]) => ({ shard, routed: owners.some(({ open }) => open) }))
        .sort((one, other) => (one.shard < other.shard ? -1 : 1)),
    setAddresses: known.configure,
    close: () => {
      known.close()
      for (const link of everyLink()) disconnect(link)
      links.clear()
      for (const { cancel, held } of intervals.values()) {
        cancel()
        held.refuse()
      }
    },
  }
}

const add = (sum: number, count: number): number => sum + count

const partnerOf = ({ tenant }: Command): PartnerId => partsOfTenant(tenant as TenantId).partner
