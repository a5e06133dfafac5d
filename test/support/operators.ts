/** Operator calls to a stack under test over gRPC: partners and keys. */
import { CORRIDOR_NAMES } from '../../src/qr/corridor.js'
import { credentials } from '@grpc/grpc-js'
import type { Credentials } from '../../src/client/index.js'
import type { Environment } from '../../src/base/ids.js'
import { bearer } from '../../src/grpc/bearer.js'
import { contracts } from '../../src/grpc/contracts.js'
import type { DemoCredentials__Output as DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import type { KeyIssued__Output as KeyIssued } from '../../protos/types/causeway/operator/v1/KeyIssued.js'
import type { PartnerCreated__Output as PartnerCreated } from '../../protos/types/causeway/operator/v1/PartnerCreated.js'
import type { ProtoGrpcType as OperatorTypes } from '../../protos/types/operator.js'
import type { ProtoGrpcType as PartnerTypes } from '../../protos/types/partners.js'
import { operatorAccessOf } from './callers.js'
import { connectDocumented, type Partner } from './partner.js'
import { answerOf } from './rpc_answers.js'

export type Key = Pick<Credentials, 'keyId' | 'secret'>

export interface Operators {
  /** With test funds in the sandbox. @returns its first sandbox key */
  createPartner(partnerId: string): Promise<Key>
  issueKey(partnerId: string, environment: Environment): Promise<Key>
  revokeKey(keyId: string): Promise<void>
  suspend(partnerId: string): Promise<void>
  resume(partnerId: string): Promise<void>
  setAllowedIps(partnerId: string, values: string[]): Promise<void>
  setPackages(partnerId: string, values: string[]): Promise<void>
  setRateLimit(partnerId: string, perSecond: number): Promise<void>
  close(): void
}

const actor = { reason: 'a test of the API' }

export function operatorsOf(stack: Parameters<typeof operatorAccessOf>[0]): Operators {
  const { address, token } = operatorAccessOf(stack)
  const { v1 } = contracts<OperatorTypes & PartnerTypes>().causeway.operator
  const operator = new v1.Operator(address, credentials.createInsecure())
  const admin = new v1.PartnerAdmin(address, credentials.createInsecure())
  const metadata = bearer(token())
  const keyOf = ({ key_id, secret }: KeyIssued): Key => ({ keyId: key_id, secret })
  return {
    createPartner: async (partner_id) => {
      const made = await answerOf<PartnerCreated>((done) =>
        operator.CreatePartner(
          { actor, partner_id, corridors: [...CORRIDOR_NAMES] },
          metadata,
          done,
        ),
      )
      return keyOf(made.sandbox_key as KeyIssued)
    },
    issueKey: async (partner_id, environment) => {
      const tenant = { partner_id, environment }
      return keyOf(
        await answerOf<KeyIssued>((done) => operator.IssueKey({ actor, tenant }, metadata, done)),
      )
    },
    revokeKey: async (key_id) => {
      await answerOf((done) => admin.RevokeKey({ actor, key_id }, metadata, done))
    },
    suspend: async (partner_id) => {
      await answerOf((done) => admin.Suspend({ actor, partner_id }, metadata, done))
    },
    resume: async (partner_id) => {
      await answerOf((done) => admin.Resume({ actor, partner_id }, metadata, done))
    },
    setAllowedIps: async (partner_id, values) => {
      await answerOf((done) => admin.SetAllowedIps({ actor, partner_id, values }, metadata, done))
    },
    setPackages: async (partner_id, values) => {
      await answerOf((done) => admin.SetPackages({ actor, partner_id, values }, metadata, done))
    },
    setRateLimit: async (partner_id, per_second) => {
      await answerOf((done) =>
        admin.SetRateLimit({ actor, partner_id, per_second }, metadata, done),
      )
    },
    close: () => {
      operator.close()
      admin.close()
    },
  }
}

/** Has the demo partner created, as the supervisor does. @returns it, at the gateway's port */
export async function demoPartnerAt(
  address: string,
  setupToken: string,
  httpPort: number,
): Promise<Partner> {
  const { Operator } = contracts<OperatorTypes>().causeway.operator.v1
  const operator = new Operator(address, credentials.createInsecure())
  const demo = await answerOf<DemoCredentials>((done) =>
    operator.EnsureDemo({}, bearer(setupToken), done),
  ).finally(() => operator.close())
  return demoPartner(demo, httpPort)
}

export const demoPartner = ({ key_id, signing_secret }: DemoCredentials, port: number): Partner =>
  connectDocumented({
    ...{ baseUrl: `http://127.0.0.1:${port}`, host: 'api.localhost', brand: 'Service' },
    ...{ keyId: key_id, secret: signing_secret },
  })

/** Creates a partner at the processor with this address. @returns its first sandbox key */
export function createPartnerAt(
  { sandbox, dataDir }: Parameters<typeof operatorAccessOf>[0],
  address: string,
  name: string,
): Promise<Key> {
  const operators = operatorsOf({ sandbox: { ...sandbox, grpc_address: address }, dataDir })
  return operators.createPartner(name).finally(() => operators.close())
}
