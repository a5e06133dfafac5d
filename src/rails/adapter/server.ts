/**
 * An adapter's gRPC server: authentication, the open links, the order of a stop.
 *
 * Does not own: a single link (link), deciding instructions (cycle).
 *
 * - Every call but health needs the credential of the processor.
 * - A new link first gets every unacknowledged report that it takes (links).
 */
import { rmSync } from 'node:fs'
import { status, type Metadata } from '@grpc/grpc-js'
import type { RailHandlers } from '../../../protos/types/causeway/rail/v1/Rail.js'
import type { ProtoGrpcType } from '../../../protos/types/rail.js'
import { SHARD_METADATA } from '../rail.js'
import { writeSummary } from '../summary_codec.js'
import type { Callers } from '../../auth/callers.js'
import { createRpcAccess } from '../../auth/rpc_access.js'
import { instant, SECOND, type Clock } from '../../base/clock.js'
import { createGrpcServer, type GrpcServer } from '../../grpc/server.js'
import { CLEARTEXT, type GrpcTls } from '../../grpc/tls.js'
import type { Logger } from '../../base/log.js'
import { contracts } from '../../grpc/contracts.js'
import type { EffectId } from '../../base/ids.js'
import type { Random } from '../../base/random.js'
import type { Tracer } from '../../tracing/tracer.js'
import type { BankOutcome } from './bank.js'
import { createCycle } from './cycle.js'
import type { Journal } from './journal.js'
import { createLink, endWith, type LinkStream } from './link.js'
import { createLinks } from './links.js'
import type { Rules } from './rules.js'

/** The journal holds every received instruction, so `not_found` is final at once. */
const FINALITY_WINDOW_MS = 0
const SHUT_DOWN_WITHIN_MS = 2 * SECOND

export interface AdapterOptions {
  /** As Describe names it. */
  readonly name: string
  /** `unix:/path.sock` or `host:port`; port 0 takes a free one. */
  readonly address: string
  readonly callers: Callers
  /** Default: loopback and Unix sockets in the clear. */
  readonly tls?: GrpcTls
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly rules: Rules
  /** Called when the process must exit and recover from the journal. */
  readonly fail: (error: unknown) => void
  /** Undefined means that nothing is traced. */
  readonly tracer?: Tracer | undefined
}

export interface Adapter {
  /** The address that clients dial. */
  readonly address: string
  /** Stores a message of a bank elsewhere, and reports what it changes. */
  learn(id: EffectId, outcome: BankOutcome): Promise<void>
  /** Finishes received instructions, then ends all links. The journal stays open. */
  close(): Promise<void>
}

export async function startAdapter(options: AdapterOptions): Promise<Adapter> {
  const { name, journal, clock, random, log, rules, fail, tracer } = options
  const links = createLinks()
  const cycle = createCycle({
    journal,
    clock,
    random,
    log,
    rules,
    publish: links.send,
    fail,
  })
  let closing = false

  const server = serve(options, {
    Describe: ({ metadata }, callback) => {
      const [shard] = shardsOf(metadata)
      callback(null, {
        name,
        finality_window_ms: FINALITY_WINDOW_MS,
        newest_instruction: journal.newest(shard) ?? '',
      })
    },
    Summarize: ({ request, metadata }, callback) => {
      const [shard] = shardsOf(metadata)
      const period = { from: instant(Number(request.from)), to: instant(Number(request.to)) }
      journal.summarize(period, shard).then(
        (summary) => callback(null, writeSummary(summary)),
        (error: unknown) => {
          log.error({ error }, 'movements cannot be summed up')
          callback({ code: status.INTERNAL, details: 'movements cannot be summed up' })
        },
      )
    },
    Link: openLink,
  })
  await cycle.start()
  const address = await bind(server, options.address)
  server.setServing(true)
  return {
    address,
    learn: (id, outcome) => cycle.submit([{ kind: 'bank_message', id, outcome }], links.send),
    close,
  }

  function openLink(call: LinkStream): void {
    if (closing) return endWith(call, status.UNAVAILABLE, 'stopping')
    const onClose = (): void => {
      if (!closing) links.remove(link)
      log.info({ links: links.size }, 'a processor has disconnected')
    }
    const shards = shardsOf(call.metadata)
    const { takes } = links
    const link = createLink({ call, cycle, log, shards, takes, onClose, fail, tracer })
    links.add(link)
    log.info({ links: links.size, shards }, 'a processor has connected')
  }

  async function close(): Promise<void> {
    closing = true
    server.setServing(false)
    for (const link of links.all()) link.stopReading()
    await cycle.stop()
    await Promise.all(links.all().map((link) => link.finish()))
    await server.close(SHUT_DOWN_WITHIN_MS)
  }
}

/** The shards that a call names. Empty if it is about any. */
const shardsOf = (metadata: Metadata): readonly string[] =>
  metadata
    .get(SHARD_METADATA)
    .flatMap((value) => String(value).split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')

const DENIED = { code: status.PERMISSION_DENIED, details: 'not a caller of the rail' }
const UNAUTHENTICATED = { code: status.UNAUTHENTICATED, details: 'authentication failed' }
const TOO_SLOW = { code: status.DEADLINE_EXCEEDED, details: 'the request did not arrive in time' }
const MALFORMED = { code: status.INVALID_ARGUMENT, details: 'malformed request' }

function serve({ callers, tls = CLEARTEXT }: AdapterOptions, handlers: RailHandlers): GrpcServer {
  const ends = {
    unauthenticated: UNAUTHENTICATED,
    denied: DENIED,
    tooSlow: TOO_SLOW,
    malformed: () => MALFORMED,
  }
  const served = createGrpcServer({ access: createRpcAccess(callers), tls, ...ends })
  served.addService(contracts<ProtoGrpcType>('rail.proto').causeway.rail.v1.Rail.service, handlers)
  return served
}

/** Removes a socket file that a killed process left behind. */
async function bind(server: GrpcServer, address: string): Promise<string> {
  const isSocket = address.startsWith('unix:')
  if (isSocket) rmSync(address.slice('unix:'.length), { force: true })
  const port = await server.bind(address)
  return isSocket ? address : address.replace(/\d+$/, String(port))
}
