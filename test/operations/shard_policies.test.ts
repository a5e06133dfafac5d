/** Every rpc for operators has a policy for several shards. */
import t from 'tap'
import type { ProtoGrpcType as ApprovalsProto } from '../../protos/types/approvals.js'
import type { ProtoGrpcType as CallersProto } from '../../protos/types/callers.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnersProto } from '../../protos/types/partners.js'
import type { ProtoGrpcType as RecoveryProto } from '../../protos/types/recovery.js'
import type { ProtoGrpcType as WebhooksProto } from '../../protos/types/webhook_admin.js'
import { contracts } from '../../src/grpc/contracts.js'
import { policyOf } from '../../src/operations/calls/shard_policies.js'

type Protos = ApprovalsProto &
  CallersProto &
  OperatorProto &
  PartnersProto &
  RecoveryProto &
  WebhooksProto

/** The clients of these rpcs call every shard, or any one of them, directly. */
const BY_THEMSELVES = ['Ledger', 'Reconciliation', 'Shards']

const services = Object.entries(contracts<Protos>().causeway.operator.v1)
  .filter(([name, member]) => 'service' in member && !BY_THEMSELVES.includes(name))
  .map(([, member]) => (member as { service: Record<string, { path: string }> }).service)
const paths = services.flatMap((service) => Object.values(service).map(({ path }) => path))

t.test('every rpc has a policy', async (t) => {
  t.ok(paths.length > 50)
  for (const path of paths) t.ok(policyOf(path, { route: {} }).kind, path)
  t.throws(() => policyOf('/causeway.operator.v1.Operator/Unknown', {}))
})

t.test('a redrive of an endpoint goes to its shard, any other redrive to any shard', async (t) => {
  const path = '/causeway.operator.v1.WebhookAdmin/Redrive'
  t.equal(policyOf(path, { endpoint_id: 'we_1' }).kind, 'holder')
  t.equal(policyOf(path, { since: 0 }).kind, 'any')
})
