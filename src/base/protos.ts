/**
 * Loads the gRPC contracts of `protos/`, each selection of files once per process.
 *
 * - int64 is a string and field names are those of the files, so a message equals the public JSON.
 */
import { join } from 'node:path'
import { loadPackageDefinition, type GrpcObject } from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'
import { protoPath as healthProto } from 'grpc-health-check'
import { projectRoot } from './project_root.js'

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
  const key = files.join()
  const known = loaded.get(key)
  if (known !== undefined) return known as unknown as Loaded
  const definition = loadPackageDefinition(definitionsIn(files.length === 0 ? FILES : files))
  loaded.set(key, definition)
  return definition as unknown as Loaded
}

/** The contracts for internal services alone. */
export const publicContracts = (): PackageDefinition => definitionsIn(PUBLIC_FILES)

/** What reflection describes: the same, and the health service. */
export const describedContracts = (): PackageDefinition =>
  definitionsIn([...PUBLIC_FILES, healthProto])

const definitionsIn = (files: readonly string[]): PackageDefinition =>
  loadSync([...files], {
    includeDirs: [join(projectRoot(), 'protos')],
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  })
