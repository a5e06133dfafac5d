/**
 * Loads the gRPC contracts of `protos/`, each selection of files once per process.
 *
 * - int64 is a string and field names are those of the files, so a message equals the public JSON.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadPackageDefinition, type GrpcObject, type ServiceDefinition } from '@grpc/grpc-js'
import protobuf from 'protobufjs/light.js'
import { projectRoot } from '../base/project_root.js'
import { answerClosingPings } from './closing_pings.js'

/** The contracts that internal services and rails rely on: additions only. */
const PUBLIC_FILES = [
  'common.proto',
  'account.proto',
  'intents.proto',
  'beneficiaries.proto',
  'payouts.proto',
  'funding.proto',
  'webhook_endpoints.proto',
  'events.proto',
] as const

const FILES = [
  ...PUBLIC_FILES,
  'rail.proto',
  'screening.proto',
  'causeway/internal/v1/command_stream.proto',
  'causeway/internal/v1/directory.proto',
  'causeway/internal/v1/webhooks.proto',
  'causeway/internal/v1/webhook_control.proto',
  'causeway/operator/v1/operator.proto',
  'causeway/operator/v1/partners.proto',
  'causeway/operator/v1/callers.proto',
  'causeway/operator/v1/approvals.proto',
  'causeway/operator/v1/reconciliation.proto',
  'causeway/operator/v1/ledger.proto',
  'causeway/operator/v1/recovery.proto',
  'causeway/operator/v1/shards.proto',
  'causeway/operator/v1/webhook_admin.proto',
] as const

type ContractFile = (typeof FILES)[number]

const loaded = new Map<string, GrpcObject>()

/**
 * The contracts of these files and of those they import, or all; callers give the generated
 * `ProtoGrpcType` of each file.
 */
export function contracts<Loaded>(...files: readonly ContractFile[]): Loaded {
  answerClosingPings()
  const key = files.join()
  const known = loaded.get(key)
  if (known !== undefined) return known as unknown as Loaded
  const definition = loadPackageDefinition(definitionsIn(files.length === 0 ? FILES : files))
  loaded.set(key, definition)
  return definition as unknown as Loaded
}

type Definitions = Readonly<Record<string, ServiceDefinition>>

/** The services of the contracts for internal services, by name. */
export const publicContracts = (): Definitions => definitionsIn(PUBLIC_FILES)

/** As src/scripts/contracts.mjs writes it: a start parses no contract. */
interface Contract {
  readonly imports: readonly string[]
  readonly package: string
  readonly nested: NonNullable<protobuf.INamespace['nested']>
}

const CONTRACTS = join(projectRoot(), 'protos/types/contracts')

const contractIn = (file: string): Contract =>
  JSON.parse(readFileSync(join(CONTRACTS, `${file}.json`), 'utf8')) as Contract

export const healthContract = (): ServiceDefinition =>
  serviceIn('health/v1/health.proto', 'grpc.health.v1.Health')

export const reflectionContract = (version: 'v1' | 'v1alpha'): ServiceDefinition =>
  serviceIn(
    `grpc/reflection/${version}/reflection.proto`,
    `grpc.reflection.${version}.ServerReflection`,
  )

function serviceIn(file: string, name: string): ServiceDefinition {
  const service = definitionsIn([file])[name]
  if (service === undefined) throw new Error(`${file} has no service ${name}`)
  return service
}

function definitionsIn(files: readonly string[]): Definitions {
  const root = new protobuf.Root()
  const added = new Set(files)
  for (const file of added) {
    const { imports, package: name, nested } = contractIn(file)
    root.define(name, nested)
    for (const imported of imports) added.add(imported)
  }
  root.resolveAll()
  return Object.fromEntries(
    servicesIn(root).map((service) => [service.fullName.slice(1), definitionOf(service)]),
  )
}

function servicesIn(space: protobuf.NamespaceBase): readonly protobuf.Service[] {
  return space.nestedArray.flatMap((nested) => {
    if (nested instanceof protobuf.Service) return [nested]
    return nested instanceof protobuf.Namespace ? servicesIn(nested) : []
  })
}

function definitionOf(service: protobuf.Service): ServiceDefinition {
  const { fullName, methodsArray } = service
  return Object.fromEntries(
    methodsArray.map(({ name, requestStream, responseStream, ...method }) => {
      const request = codecOf(method.resolvedRequestType)
      const response = codecOf(method.resolvedResponseType)
      const definition = {
        path: `/${fullName.slice(1)}/${name}`,
        originalName: name.charAt(0).toLowerCase() + name.slice(1),
        ...{ requestStream: requestStream === true, responseStream: responseStream === true },
        ...{ requestSerialize: request.serialize, requestDeserialize: request.deserialize },
        ...{ responseSerialize: response.serialize, responseDeserialize: response.deserialize },
      }
      return [name, definition]
    }),
  )
}

const AS_PUBLIC_JSON = { longs: String, enums: String, defaults: true, oneofs: true }

function codecOf(type: protobuf.Type | null) {
  if (type === null) throw new Error('a contract names a message that is nowhere')
  return {
    serialize: (message: object): Buffer =>
      type.encode(type.fromObject(message)).finish() as Buffer, // Node's writer makes Buffers
    deserialize: (bytes: Buffer): object => type.toObject(type.decode(bytes), AS_PUBLIC_JSON),
  }
}
