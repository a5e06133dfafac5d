/**
 * Loads the gRPC contracts of `protos/` once.
 *
 * - int64 is a string and field names are those of the files, so a message equals the public JSON.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPackageDefinition, type GrpcObject } from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'

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
]

const FILES = [
  ...PUBLIC_FILES,
  'rail.proto',
  'causeway/internal/v1/command_stream.proto',
  'causeway/internal/v1/directory.proto',
  'causeway/internal/v1/webhooks.proto',
  'causeway/internal/v1/webhook_control.proto',
  'causeway/operator/v1/operator.proto',
  'causeway/operator/v1/partners.proto',
  'causeway/operator/v1/callers.proto',
  'causeway/operator/v1/approvals.proto',
  'causeway/operator/v1/reconciliation.proto',
  'causeway/operator/v1/recovery.proto',
  'causeway/operator/v1/shards.proto',
  'causeway/operator/v1/webhook_admin.proto',
]

/** The repository's root: compiled code runs from `.build/`, sources from the tree itself. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

let loaded: GrpcObject | undefined

/** The loaded contracts; callers give the generated `ProtoGrpcType` of their file. */
export function contracts<Loaded>(): Loaded {
  loaded ??= loadPackageDefinition(definitionsIn(FILES))
  return loaded as unknown as Loaded
}

/** The contracts for internal services alone, to be described by reflection. */
export const publicContracts = (): PackageDefinition => definitionsIn(PUBLIC_FILES)

const definitionsIn = (files: string[]): PackageDefinition =>
  loadSync(files, {
    includeDirs: [join(projectRoot(), 'protos')],
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  })
