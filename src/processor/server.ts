/**
 * The processor's gRPC server: which services stand at which door.
 *
 * S1. Loopback TCP for internal services and operators, a Unix socket for our own processes; the
 *     same token at both.
 * S2. Health is open, so that a supervisor needs no secret to ask it.
 */
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import type { ProtoGrpcType as DeskProto } from '../../protos/types/delivery_desk.js'
import type { ProtoGrpcType as DirectoryProto } from '../../protos/types/directory.js'
import type { ProtoGrpcType as ExchangeProto } from '../../protos/types/exchange.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as PayoutsProto } from '../../protos/types/payouts.js'
import type { ProtoGrpcType as ReconciliationProto } from '../../protos/types/reconciliation.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as WebhookAdminProto } from '../../protos/types/webhook_admin.js'
import type { ProtoGrpcType as WebhooksProto } from '../../protos/types/webhooks.js'
import { HOUR, MINUTE, SECOND } from '../base/clock.js'
import { createGrpcServer } from '../base/grpc_server.js'
import { contracts } from '../base/protos.js'
import { deliveryDeskService, type PoolConnected } from './services/delivery_desk.js'
import type { DirectoryService } from './services/directory.js'
import { exchangeService } from './services/exchange.js'
import { grpcError } from './services/guard.js'
import { internalServices } from './services/internal.js'
import { eventOutcomesService, operatorService } from './services/operator.js'
import { partnerAdminService } from './services/partner_admin.js'
import { reconciliationService } from './services/reconciliation.js'
import { recoveryService, type RecoveryDependencies } from './services/recovery.js'
import type { UnaryDependencies } from './services/unary.js'
import { webhookAdminService } from './services/webhook_admin.js'

type Protos = DeskProto &
  DirectoryProto &
  ExchangeProto &
  IntentsProto &
  OperatorProto &
  PartnersProto &
  PayoutsProto &
  ReconciliationProto &
  RecoveryProto &
  WebhookAdminProto &
  WebhooksProto

export interface ProcessorServer {
  /** Binds an address (`host:port` or `unix:path`); resolves with the port, 0 for a socket. */
  bind(address: string): Promise<number>
  close(): Promise<void>
}

export interface ServerLinks extends RecoveryDependencies {
  readonly onPool?: PoolConnected
}

const NO_LINKS: ServerLinks = { behind: () => [], released: () => undefined }

const CLOSE_WITHIN_MS = 5 * SECOND

export function createServer(
  dependencies: UnaryDependencies,
  directory: DirectoryService,
  { onPool, ...recovery }: ServerLinks = NO_LINKS,
): ProcessorServer {
  const { server, addService, bind, close } = createGrpcServer({
    token: dependencies.guard.token,
    refusal: grpcError('authentication_failed'),
    tooSlow: grpcError('timeout'),
    malformed: grpcError('invalid_request'),
    options: {
      'grpc.max_connection_idle_ms': HOUR,
      'grpc.keepalive_time_ms': MINUTE,
      'grpc.keepalive_timeout_ms': 20 * SECOND,
    },
  })
  const { causeway } = contracts<Protos>()
  const v1 = causeway.v1
  const add = (service: { service: ServiceDefinition }, handlers: object): void =>
    addService(service.service, handlers as UntypedServiceImplementation)
  const { intents, payouts } = internalServices(dependencies)
  const desk = deliveryDeskService(dependencies.guard, onPool)
  add(v1.Exchange, exchangeService({ ...dependencies, pools: desk }))
  add(v1.Directory, directory.handlers)
  add(v1.PaymentIntents, intents)
  add(v1.Payouts, payouts)
  add(v1.Operator, operatorService(dependencies))
  add(v1.PartnerAdmin, partnerAdminService(dependencies))
  add(v1.Reconciliation, reconciliationService(dependencies))
  add(v1.Recovery, recoveryService(dependencies, recovery))
  add(v1.EventOutcomes, eventOutcomesService(dependencies))
  add(v1.DeliveryDesk, desk.handlers)
  add(v1.WebhookAdmin, webhookAdminService(dependencies, desk))
  new HealthImplementation({ '': 'SERVING' }).addToServer(server)

  return { bind, close: () => close(CLOSE_WITHIN_MS) }
}
