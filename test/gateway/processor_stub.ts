/**
 * A processor stub for the gateway's tests: real gRPC for the command stream and the directory,
 * scripted replies, no state.
 */
import { Server, type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { contracts } from '../../src/grpc/contracts.js'
import type { Command__Output } from '../../protos/types/causeway/internal/v1/Command.js'
import type { CommandBatch__Output } from '../../protos/types/causeway/internal/v1/CommandBatch.js'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type {
  ProgressMark,
  ProgressMark__Output,
} from '../../protos/types/causeway/internal/v1/ProgressMark.js'
import type { Reply } from '../../protos/types/causeway/internal/v1/Reply.js'
import type { ReplyBatch } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { WatchRequest__Output } from '../../protos/types/causeway/internal/v1/WatchRequest.js'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as CommandStreamTypes } from '../../protos/types/command_stream.js'
import { listenGrpc } from '../support/grpc_listen.js'
import { snapshot as onePartner } from './signing_partner.js'

/** An empty list: the command is never answered. */
export type Script = (command: Command__Output) => readonly Reply[]

export interface ProcessorStub {
  address: string
  /** Every command that arrived, in order. */
  readonly commands: Command__Output[]
  /** The marks that gateways showed, in order. */
  readonly marks: ProgressMark__Output[]
  /** Sent with the replies. */
  mark?: ProgressMark
  /** Number of commands in each message. */
  readonly batches: number[]
  script: Script
  /** Open directory streams. */
  readonly subscribers: number
  /** Sends an update to every subscriber. */
  publish(update: PartnerUpdate): void
  opened: (stream: CommandStreamCall) => void
  /** Called when the gateway ends its side of a command stream. Default: ends the other side. */
  ended: (stream: CommandStreamCall) => void
  /** Ends the directory streams only. */
  breakDirectory(): void
  /** Sends a drain to the gateways; a stream ends after its gateway has ended its side. */
  drain(): void
  /** Breaks all streams, as a crash would, without a restart. */
  crash(): void
  stop(): void
}

export interface ProcessorStubOptions {
  /** The updates that each new subscriber receives. Default: a directory with one partner. */
  readonly snapshot?: readonly PartnerUpdate[]
  readonly script?: Script
  /** The address of an earlier stub; default: a free port. */
  readonly address?: string
}

export type CommandStreamCall = ServerDuplexStream<CommandBatch__Output, ReplyBatch>
type DirectoryStream = ServerWritableStream<WatchRequest__Output, PartnerUpdate>

/** `t` stops it on teardown. */
export async function startProcessorStub(
  t: Pick<Test, 'teardown'>,
  {
    snapshot = [onePartner()],
    script = accept,
    address = '127.0.0.1:0',
  }: ProcessorStubOptions = {},
): Promise<ProcessorStub> {
  const { CommandStream } = contracts<CommandStreamTypes>().causeway.internal.v1
  const { Directory } = contracts<DirectoryTypes>().causeway.internal.v1
  const commandStreams = new Set<CommandStreamCall>()
  const subscribers = new Set<DirectoryStream>()
  const server = new Server()
  const processorStub: ProcessorStub = {
    address: '',
    commands: [],
    marks: [],
    batches: [],
    script,
    opened: () => undefined,
    ended: (stream) => stream.end(),
    get subscribers() {
      return subscribers.size
    },
    publish: (update) => {
      for (const subscriber of subscribers) subscriber.write(update)
    },
    breakDirectory: () => {
      for (const subscriber of subscribers) subscriber.end()
      subscribers.clear()
    },
    drain: () => {
      for (const stream of commandStreams) stream.write({ draining: true })
    },
    crash: () => server.forceShutdown(),
    stop: () => server.forceShutdown(),
  }
  server.addService(CommandStream.service, {
    Open: (stream: CommandStreamCall) => {
      commandStreams.add(stream)
      processorStub.opened(stream)
      stream.on('close', () => commandStreams.delete(stream))
      stream.on('data', ({ commands, marks }: CommandBatch__Output) => {
        processorStub.marks.push(...marks)
        if (commands.length === 0) return
        processorStub.batches.push(commands.length)
        processorStub.commands.push(...commands)
        const replies = commands.flatMap((command) => processorStub.script(command))
        const { mark = null } = processorStub
        if (replies.length > 0) stream.write({ replies, mark })
      })
      stream.on('end', () => processorStub.ended(stream))
      stream.on('error', () => undefined)
    },
  })
  server.addService(Directory.service, {
    WatchPartners: (stream: DirectoryStream) => {
      subscribers.add(stream)
      stream.on('cancelled', () => subscribers.delete(stream))
      for (const update of snapshot) stream.write(update)
    },
    WatchEndpoints: (stream: DirectoryStream) => stream.end(),
  })
  t.teardown(() => processorStub.stop())
  processorStub.address = await listenGrpc(server, address)
  return processorStub
}

/**
 * Answers with the command's operation, tenant and ticket as JSON, so a test can match replies to
 * callers.
 */
export const accept: Script = ({ ticket, operation = 'none', tenant }) => [
  { ticket, code: '', body: JSON.stringify({ operation, tenant, ticket }), replayed: false },
]

export const refuseWith =
  (code: string): Script =>
  ({ ticket }) => [{ ticket, code, body: '', replayed: false }]

export const silence: Script = () => []
