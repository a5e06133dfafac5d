/** Operator calls to a stack under test over gRPC: partners and keys. */
import { CORRIDOR_NAMES } from '../../src/qr/corridor.js'
import type { Credentials } from '../../src/client/index.js'
import type { Environment } from '../../src/base/ids.js'
import type { DemoCredentials__Output as DemoCredentials } from '../../protos/types/causeway/operator/v1/DemoCredentials.js'
import type { KeyIssued__Output as KeyIssued } from '../../protos/types/causeway/operator/v1/KeyIssued.js'
import type { PartnerCreated__Output as PartnerCreated } from '../../protos/types/causeway/operator/v1/PartnerCreated.js'
import { operatorAccessOf } from './callers.js'
import { connectDocumented, type Partner } from './partner.js'
import { acceptedAnswer, openCalls } from './rpc_calls.js'

export type Key = Pick<Credentials, 'keyId' | 'secret'>

const actor = { reason: 'a test of the API' }

const keyOf = ({ key_id, secret }: KeyIssued): Key => ({ keyId: key_id, secret })

export type Operators = ReturnType<typeof operatorsOf>

export function operatorsOf(stack: Parameters<typeof operatorAccessOf>[0]) {
  const { address, token } = operatorAccessOf(stack)
  const { call, close } = openCalls(address, token())
  const act = <Answer extends object>(rpc: string, request: object): Promise<Answer> =>
    acceptedAnswer(call<Answer>(rpc, { actor, ...request }))
  const change = (rpc: string, request: object): Promise<unknown> =>
    act(`PartnerAdmin/${rpc}`, request)
  return {
    /** With test funds in the sandbox. @returns its first sandbox key */
    createPartner: async (partner_id: string): Promise<Key> => {
      const given = { partner_id, corridors: CORRIDOR_NAMES }
      const made = await act<PartnerCreated>('Operator/CreatePartner', given)
      return keyOf(made.sandbox_key as KeyIssued)
    },
    issueKey: async (partner_id: string, environment: Environment): Promise<Key> =>
      keyOf(await act('Operator/IssueKey', { tenant: { partner_id, environment } })),
    revokeKey: (key_id: string) => change('RevokeKey', { key_id }),
    suspend: (partner_id: string) => change('Suspend', { partner_id }),
    resume: (partner_id: string) => change('Resume', { partner_id }),
    setAllowedIps: (partner_id: string, values: string[]) =>
      change('SetAllowedIps', { partner_id, values }),
    setPackages: (partner_id: string, values: string[]) =>
      change('SetPackages', { partner_id, values }),
    setRateLimit: (partner_id: string, per_second: number) =>
      change('SetRateLimit', { partner_id, per_second }),
    close,
  }
}

/** Has the demo partner created, as the supervisor does. @returns it, at the gateway's port */
export async function demoPartnerAt(
  address: string,
  setupToken: string,
  httpPort: number,
): Promise<Partner> {
  const { call, close } = openCalls(address, setupToken)
  const demo = acceptedAnswer(call<DemoCredentials>('Operator/EnsureDemo'))
  return demoPartner(await demo.finally(close), httpPort)
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
