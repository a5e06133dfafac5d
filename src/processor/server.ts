/**
 * The processor's gRPC server: its services and addresses.
 *
 * - TCP serves internal services and operators, beyond loopback with mutual TLS. A Unix socket
 *   serves the processes of this stack. Both authorize calls by auth/rpc_access.
 * - Health checks need no credential. Neither does reflection, which describes the contracts of
 *   internal services only.
 */
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { ProcessorState } from '../../protos/types/causeway/operator/v1/ProcessorState.js'
import type { ProtoGrpcType as AccountProto } from '../../protos/types/account.js'
import type { ProtoGrpcType as ApprovalsProto } from '../../protos/types/approvals.js'
import type { ProtoGrpcType as BeneficiariesProto } from '../../protos/types/beneficiaries.js'
import type { ProtoGrpcType as EventsProto } from '../../protos/types/events.js'
import type { ProtoGrpcType as FundingProto } from '../../protos/types/funding.js'
import type { ProtoGrpcType as WebhookEndpointsProto } from '../../protos/types/webhook_endpoints.js'
import type { ProtoGrpcType as CallersProto } from '../../protos/types/callers.js'
import type { ProtoGrpcType as ControlProto } from '../../protos/types/webhook_control.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import type { ProtoGrpcType as LedgerProto } from '../../protos/types/ledger.js'
import type { ProtoGrpcType as ReconciliationProto } from '../../protos/types/reconciliation.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as ShardsProto } from '../../protos/types/shards.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../protos/types/webhook_admin.js'
import type { ProtoGrpcType as WebhooksProto } from '../../protos/types/webhooks.js'
import type { Callers } from '../auth/callers.js'
import { SECOND } from '../base/clock.js'
import type { Listener } from '../grpc/connections.js'
import type { CallObserver } from '../grpc/ended_calls.js'
import { CLEARTEXT } from '../grpc/tls.js'
import { contracts } from '../grpc/contracts.js'
import { openGrpcPort } from './grpc_port.js'
import { webhookControlService, type PoolConnected } from './servers/webhook_control.js'
import { approvalsService } from './servers/approvals.js'
import { callersService } from './servers/callers.js'
import type { DirectoryService } from './servers/directory_stream.js'
import { commandStreamService, type GatewayProgress } from './servers/command_stream.js'
import { withAuthenticatedCaller } from './servers/authenticated_caller.js'
import { endpointCalls, eventCalls } from './servers/event_calls.js'
import { createCommittedEvents, eventWatch, type CommittedEvents } from './servers/event_watch.js'
import { intentCalls } from './servers/intent_calls.js'
import { createCallCounts } from './servers/call_counts.js'
import { callsOf, partnerCalls } from './servers/partner_call.js'
import { eventOutcomesService } from './servers/event_outcomes.js'
import { operatorService } from './servers/operator/operator.js'
import type { Placements } from './servers/placed_call.js'
import { withPlacedPartner } from './servers/placed_partner.js'
import { partnerAdminService } from './servers/partner_admin.js'
import { addReflection } from './servers/reflection.js'
import { ledgerService } from './servers/ledger.js'
import { reconciliationService } from './servers/reconciliation.js'
import { recoveryService, type RecoveryDependencies } from './servers/recovery.js'
import { NO_STATEMENTS } from './recovery/statement_check.js'
import type { ShardAdmin } from './cluster/member.js'
import { shardsService } from './servers/shards.js'
import { systemCalls } from './servers/operator/system.js'
import type { UnaryDependencies } from './servers/unary_handler.js'
import { webhookAdminService } from './servers/webhook_admin.js'

type Protos = AccountProto &
  BeneficiariesProto &
  ApprovalsProto &
  CallersProto &
  ControlProto &
  DirectoryProto &
  EventsProto &
  FundingProto &
  CommandStreamProto &
  IntentsProto &
  OperatorProto &
  PartnersProto &
  PayoutsProto &
  LedgerProto &
  ReconciliationProto &
  RecoveryProto &
  ShardsProto &
  WebhookAdminProto &
  WebhookEndpointsProto &
  WebhooksProto

export interface ProcessorServer {
  /** Binds `host:port` or `unix:path`, or accepts; resolves with the port, 0 for a socket. */
  bind(address: string | Listener): Promise<number>
  /** The status of the health service; not serving until the first call. */
  setServing(isServing: boolean): void
  /** Gateways that are connected. */
  gateways(): number
  /** Answers everything that has arrived, requests the gateways to drain and ends all streams. */
  close(): Promise<void>
}

export interface ServerLinks extends RecoveryDependencies {
  readonly onPool?: PoolConnected
  /** How many webhook pools there are. Default: those that have connected. */
  readonly webhookPools?: number
  /** Notifies the event streams. Default: nothing does. */
  readonly events?: CommittedEvents
  /** Resolves when all commands are answered. Default: at once. */
  readonly idle?: () => Promise<void>
  /** Undefined means that this processor has all partners. */
  readonly placements?: Placements | undefined
  /** Undefined means that no other process can own the books. */
  readonly progress?: GatewayProgress | undefined
  /** Undefined means that this processor is in no cluster. */
  readonly shards?: ShardAdmin | undefined
  /** What `ShowSystem` answers. Default: it is not known. */
  readonly systemState?: () => ProcessorState
  /** Is told of each call. Default: nothing is. */
  readonly observe?: CallObserver
  /** The limit of a key whose partner has none of its own. Default: none. */
  readonly ratePerSecond?: number
}

const NO_LINKS: ServerLinks = {
  behind: () => [],
  isBusChecked: () => true,
  statements: NO_STATEMENTS,
  released: () => undefined,
}

/** How long the server waits for clients to end their streams. */
const CLOSE_WITHIN_MS = 5 * SECOND

/** Loads the contracts of the services, which can be done before the books are open. */
export function prepareContracts(): void {
  contracts<Protos>()
}

export function createServer(
  dependencies: UnaryDependencies,
  callers: Callers,
  directory: Pick<DirectoryService, 'handlers' | 'own' | 'close'>,
  {
    onPool,
    webhookPools,
    events = createCommittedEvents(),
    idle,
    placements,
    progress,
    shards,
    systemState = () => ({}),
    observe,
    ratePerSecond = 0,
    ...recovery
  }: ServerLinks = NO_LINKS,
  tls = CLEARTEXT,
): ProcessorServer {
  const { server, addService, bind, setServing, close } = openGrpcPort(callers, tls, observe)
  const { causeway } = contracts<Protos>()
  const { v1, internal, operator } = causeway
  const add = (service: { service: ServiceDefinition }, handlers: object): void =>
    addService(
      service.service,
      withAuthenticatedCaller(
        service.service,
        withPlacedPartner(
          service.service,
          handlers as UntypedServiceImplementation,
          dependencies.memory,
          placements,
        ),
      ),
    )
  const pools = webhookControlService(onPool, webhookPools)
  const call = partnerCalls(dependencies, pools)
  const watch = eventWatch(dependencies, events)
  const calls = createCallCounts(dependencies.clock.now())
  const commandStream = commandStreamService({
    ...{ ...dependencies, pools, calls, progress },
    isTracing: dependencies.sampler !== undefined,
  })
  add(internal.v1.CommandStream, commandStream.handlers)
  add(internal.v1.Directory, directory.handlers)
  add(v1.PaymentIntents, { ...callsOf('PaymentIntents', call), ...intentCalls(call) })
  add(v1.Payouts, callsOf('Payouts', call))
  add(v1.Beneficiaries, callsOf('Beneficiaries', call))
  add(v1.Funding, callsOf('Funding', call))
  add(v1.WebhookEndpoints, { ...callsOf('WebhookEndpoints', call), ...endpointCalls(call) })
  add(v1.Events, { ...callsOf('Events', call), ...eventCalls(call), Watch: watch.watch })
  add(v1.Accounts, callsOf('Accounts', call))
  const system = systemCalls(systemState)
  add(operator.v1.Operator, operatorService(dependencies, pools, placements, shards, system))
  add(operator.v1.PartnerAdmin, partnerAdminService(dependencies, calls, ratePerSecond))
  add(operator.v1.Ledger, ledgerService(dependencies))
  add(operator.v1.Reconciliation, reconciliationService(dependencies))
  add(operator.v1.Approvals, approvalsService(dependencies, callers, recovery, shards))
  add(operator.v1.Callers, callersService(dependencies, callers, placements, shards))
  add(operator.v1.Shards, shardsService(dependencies, directory, shards))
  add(operator.v1.Recovery, recoveryService(dependencies, recovery))
  add(internal.v1.EventOutcomes, eventOutcomesService(dependencies))
  add(internal.v1.WebhookControl, pools.handlers)
  add(operator.v1.WebhookAdmin, webhookAdminService(dependencies, pools))
  addReflection(server)

  return {
    bind,
    setServing,
    gateways: commandStream.open,
    close: async () => {
      const closed = close(CLOSE_WITHIN_MS)
      watch.close()
      directory.close()
      // Queries of the commands need the pools.
      void commandStream
        .drain()
        .then(idle)
        .then(() => pools.close())
      await closed
    },
  }
}
