/**
 * Writes each contract as protobufjs has it after parsing, which a start then need not do, e.g.
 * protos/types/contracts/rail.proto.json. `src/grpc/contracts.ts` reads them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import protobuf from 'protobufjs'

const packageFolder = (name) =>
  dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))

/** Where the contracts are: ours, and those of gRPC's own services. */
const FOLDERS = [
  'protos',
  join(packageFolder('grpc-health-check'), 'proto'),
  join(packageFolder('@grpc/reflection'), 'build/proto'),
]
const OF_GRPC = [
  'health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
  'grpc/reflection/v1alpha/reflection.proto',
]

/** @param file relative to its folder, as in the import statements */
function contractOf(file) {
  const path = FOLDERS.map((folder) => join(folder, file)).find((path) => existsSync(path))
  const text = readFileSync(path, 'utf8')
  const { imports = [], package: space, root } = protobuf.parse(text, { keepCase: true })
  return { imports, package: space, nested: root.lookup(space).toJSON().nested }
}

for (const file of [...process.argv.slice(2), ...OF_GRPC]) {
  const written = join('protos/types/contracts', `${file}.json`)
  mkdirSync(dirname(written), { recursive: true })
  writeFileSync(written, JSON.stringify(contractOf(file)))
}
