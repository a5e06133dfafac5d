/**
 * A stub of the processor: the directory of endpoints, the recorder of outcomes, and the real
 * control stream.
 */
import { Server, type ServerWritableStream } from '@grpc/grpc-js'
import { listenGrpc } from '../support/grpc_listen.js'
import type { DirectoryHandlers } from '../../protos/types/causeway/internal/v1/Directory.js'
import type { Endpoint as WireEndpoint } from '../../protos/types/causeway/internal/v1/Endpoint.js'
import type { EndpointUpdate } from '../../protos/types/causeway/internal/v1/EndpointUpdate.js'
import type { EventOutcomesHandlers } from '../../protos/types/causeway/internal/v1/EventOutcomes.js'
import type { WatchRequest__Output as WatchRequest } from '../../protos/types/causeway/internal/v1/WatchRequest.js'
import type { ProtoGrpcType as DirectoryTypes } from '../../protos/types/directory.js'
import type { ProtoGrpcType as ControlTypes } from '../../protos/types/webhook_control.js'
import type { ProtoGrpcType as WebhookTypes } from '../../protos/types/webhooks.js'
import { tokenIn } from '../../src/auth/caller_token.js'
import { contracts } from '../../src/grpc/contracts.js'
import { webhookControlService } from '../../src/processor/servers/webhook_control.js'
import { eventually } from '../support/eventually.js'

/** Enough for a pool of a test to restart; the others deliver without it soon. */
const AWAIT_POOL_MS = 10_000

export interface StandInProcessor {
  readonly address: string
  /** Number of reports, by event and outcome. */
  readonly outcomes: Map<string, number>
  readonly disabled: { readonly endpointId: string; readonly reason: string }[]
  /** The dead deliveries by pool, in the last report. */
  readonly dead: Map<number, readonly { endpoint_id: string; count: number }[]>
  /** Sends the endpoint to present and later watchers. */
  setEndpoint(endpoint: WireEndpoint): void
  /** Resolves when so many pools are on the control stream. */
  poolsAre(count: number): Promise<unknown>
  /** Ends the watchers' streams; they get changes when they reconnect. */
  cut(): void
  /** While it refuses, nothing is recorded. */
  refuse(on: boolean): void
  close(): void
}

export interface StandInOptions {
  readonly awaitPoolMs?: number
  /** What it announces. Default: nothing, as a processor of an earlier version. */
  readonly installation?: string
}

export async function openStandInProcessor(
  token: string,
  { awaitPoolMs = AWAIT_POOL_MS, installation }: StandInOptions = {},
): Promise<StandInProcessor> {
  const endpoints = new Map<string, WireEndpoint>()
  const watchers = new Set<ServerWritableStream<WatchRequest, EndpointUpdate>>()
  const outcomes = new Map<string, number>()
  const disabled: { endpointId: string; reason: string }[] = []
  const dead: StandInProcessor['dead'] = new Map()
  let refusing = false

  const directory: Pick<DirectoryHandlers, 'WatchEndpoints'> = {
    WatchEndpoints: (stream) => {
      if (tokenIn(stream.metadata) !== token)
        return void stream.destroy(new Error('unauthenticated'))
      watchers.add(stream)
      stream.on('close', () => watchers.delete(stream))
      if (installation !== undefined) stream.write({ installation })
      for (const endpoint of endpoints.values()) stream.write({ endpoints: [endpoint] })
      stream.write({ endpoints: [], complete: true })
    },
  }
  const recorder: EventOutcomesHandlers = {
    Record: (call, answer) => {
      if (refusing || tokenIn(call.metadata) !== token) return answer({ code: 14, details: 'no' })
      for (const { event_id, outcome } of call.request.outcomes) {
        const key = `${event_id} ${outcome}`
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
      }
      answer(null, {})
    },
    RecordDead: (call, answer) => {
      if (refusing || tokenIn(call.metadata) !== token) return answer({ code: 14, details: 'no' })
      dead.set(call.request.pool, call.request.endpoints)
      answer(null, {})
    },
    DisableEndpoint: (call, answer) => {
      if (refusing || tokenIn(call.metadata) !== token) return answer({ code: 14, details: 'no' })
      disabled.push({ endpointId: call.request.endpoint_id, reason: call.request.reason })
      const known = endpoints.get(call.request.endpoint_id)
      if (known !== undefined) setEndpoint({ ...known, status: 'disabled' })
      answer(null, {})
    },
  }

  const setEndpoint = (endpoint: WireEndpoint): void => {
    endpoints.set(endpoint.id ?? '', endpoint)
    for (const watcher of watchers) watcher.write({ endpoints: [endpoint] })
  }

  const server = new Server()
  server.addService(contracts<DirectoryTypes>().causeway.internal.v1.Directory.service, directory)
  server.addService(contracts<WebhookTypes>().causeway.internal.v1.EventOutcomes.service, recorder)
  const control = webhookControlService(undefined, 0, undefined, awaitPoolMs)
  server.addService(
    contracts<ControlTypes>().causeway.internal.v1.WebhookControl.service,
    control.handlers,
  )
  const address = await listenGrpc(server)
  return {
    address,
    outcomes,
    disabled,
    dead,
    setEndpoint,
    poolsAre: (count) =>
      eventually('the pools are connected', () => control.connectedPools === count),
    cut: () => {
      for (const watcher of watchers) watcher.end()
      watchers.clear()
    },
    refuse: (on) => {
      refusing = on
    },
    close: () => server.forceShutdown(),
  }
}
