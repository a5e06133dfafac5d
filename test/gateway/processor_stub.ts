/**
 * A processor for the gateway's tests: real gRPC, scripted answers, nothing kept.
 *
 * It speaks both contracts that a gateway uses. A test says how commands are answered and which
 * partners there are.
 */
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerWritableStream,
} from '@grpc/grpc-js'
import { contracts } from '../../src/base/protos.js'
import type { Command__Output } from '../../protos/types/causeway/v1/Command.js'
import type { CommandBatch__Output } from '../../protos/types/causeway/v1/CommandBatch.js'
import type { PartnerUpdate } from '../../protos/types/causeway/v1/PartnerUpdate.js'
import type { Reply } from '../../protos/types/causeway/v1/Reply.js'
import type { ReplyBatch } from '../../protos/types/causeway/v1/ReplyBatch.js'
import type { WatchRequest__Output } from '../../protos/types/causeway/v1/WatchRequest.js'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as CommandStreamTypes } from '../../protos/types/command_stream.js'

/** Nothing: never answered. */
export type Script = (command: Command__Output) => readonly Reply[]

export interface StandIn {
  address: string
  /** Every command that arrived, in order. */
  readonly commands: Command__Output[]
  /** How many commands came in each message. */
  readonly batches: number[]
  script: Script
  /** Open streams of the directory. */
  readonly subscribers: number
  /** Tells every subscriber. */
  tell(update: PartnerUpdate): void
  /** Ends the directory's streams alone. */
  breakDirectory(): void
  /** Breaks all streams, as a crash would, and stays away. */
  crash(): void
  stop(): void
}

export interface StandInOptions {
  /** What each new subscriber is told first. */
  readonly snapshot: readonly PartnerUpdate[]
  readonly script?: Script
  /** To come back where another one was; else a free port. */
  readonly address?: string
}

type CommandStreamCall = ServerDuplexStream<CommandBatch__Output, ReplyBatch>
type DirectoryStream = ServerWritableStream<WatchRequest__Output, PartnerUpdate>

export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const { CommandStream: RequestContext } = contracts<CommandStreamTypes>().causeway.v1
  const { Directory } = contracts<DirectoryTypes>().causeway.v1
  const subscribers = new Set<DirectoryStream>()
  const server = new Server()
  const standIn: StandIn = {
    address: '',
    commands: [],
    batches: [],
    script: options.script ?? accept,
    get subscribers() {
      return subscribers.size
    },
    tell: (update) => {
      for (const subscriber of subscribers) subscriber.write(update)
    },
    breakDirectory: () => {
      for (const subscriber of subscribers) subscriber.end()
      subscribers.clear()
    },
    crash: () => server.forceShutdown(),
    stop: () => server.forceShutdown(),
  }
  server.addService(RequestContext.service, {
    Open: (stream: CommandStreamCall) => {
      stream.on('data', ({ commands }: CommandBatch__Output) => {
        standIn.batches.push(commands.length)
        standIn.commands.push(...commands)
        const replies = commands.flatMap((command) => standIn.script(command))
        if (replies.length > 0) stream.write({ replies })
      })
      stream.on('end', () => stream.end())
      stream.on('error', () => undefined)
    },
  })
  server.addService(Directory.service, {
    WatchPartners: (stream: DirectoryStream) => {
      subscribers.add(stream)
      stream.on('cancelled', () => subscribers.delete(stream))
      for (const update of options.snapshot) stream.write(update)
    },
    WatchEndpoints: (stream: DirectoryStream) => stream.end(),
  })
  standIn.address = `127.0.0.1:${await bind(server, options.address ?? '127.0.0.1:0')}`
  return standIn
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port)
      else reject(error)
    })
  })
}

/**
 * Answers with the command's operation, tenant and ticket as JSON, so that a test sees whose answer
 * it got.
 */
export const accept: Script = ({ ticket, operation = 'none', tenant }) => [
  { ticket, code: '', body: JSON.stringify({ operation, tenant, ticket }), replayed: false },
]

export const refuseWith =
  (code: string): Script =>
  ({ ticket }) => [{ ticket, code, body: '', replayed: false }]

export const silence: Script = () => []
