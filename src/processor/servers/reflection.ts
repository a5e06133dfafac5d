/**
 * Server reflection over the contracts of internal services and the health service.
 *
 * - The descriptors are protoc's form, made by buf when the types are generated (scripts/types.sh).
 * - They are indexed at the first call: a processor that starts or takes over does not wait for it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status, type Server, type ServerDuplexStream } from '@grpc/grpc-js'
import protobuf from 'protobufjs/minimal.js'
import { projectRoot } from '../../base/project_root.js'
import { reflectionContract } from '../../grpc/contracts.js'

const DESCRIPTORS = join(projectRoot(), 'protos/types/described.binpb')

interface Request {
  readonly host?: string
  readonly message_request?: string
  readonly file_by_filename?: string
  readonly file_containing_symbol?: string
}

interface File {
  readonly bytes: Uint8Array
  /** The names of the files that it imports. */
  readonly imports: readonly string[]
}

interface Contracts {
  readonly files: ReadonlyMap<string, File>
  /** The name of the file that declares each symbol. */
  readonly symbols: ReadonlyMap<string, string>
  readonly services: readonly string[]
}

export function addReflection(server: Server): void {
  const descriptors = readFileSync(DESCRIPTORS)
  let known: Contracts | undefined
  const ServerReflectionInfo = (call: ServerDuplexStream<Request, object>): void => {
    call.on('data', (request: Request) => {
      const answer = answerTo(request, (known ??= contractsIn(descriptors)))
      call.write({ valid_host: request.host, original_request: request, ...answer })
    })
    call.on('end', () => call.end())
  }
  for (const version of ['v1', 'v1alpha'] as const)
    server.addService(reflectionContract(version), { ServerReflectionInfo })
}

function answerTo(request: Request, { files, symbols, services }: Contracts): object {
  const { message_request: asked, file_by_filename: file, file_containing_symbol: symbol } = request
  const described = (name: string | undefined): object =>
    files.has(name ?? '')
      ? { file_descriptor_response: { file_descriptor_proto: withImports(name ?? '', files) } }
      : refused(status.NOT_FOUND, 'not found')
  if (asked === 'list_services')
    return { list_services_response: { service: services.map((name) => ({ name })) } }
  if (asked === 'file_by_filename') return described(file)
  if (asked === 'file_containing_symbol') return described(symbols.get(symbol ?? ''))
  if (asked === undefined) return refused(status.UNIMPLEMENTED, 'unknown request')
  return refused(status.NOT_FOUND, 'no contract has extensions')
}

const refused = (code: status, text: string): object => ({
  error_response: { error_code: code, error_message: text },
})

function withImports(name: string, files: Contracts['files']): readonly Uint8Array[] {
  const names = new Set([name])
  for (const each of names)
    for (const imported of files.get(each)?.imports ?? []) names.add(imported)
  return [...names].flatMap((each) => files.get(each)?.bytes ?? [])
}

/** Field numbers of descriptor.proto: of a set, of a file, and of `name` in all. */
const [SET_FILE, FILE_PACKAGE, FILE_DEPENDENCY, FILE_SERVICE, NAME] = [1, 2, 3, 6, 1]

type Kind = 'file' | 'message' | 'enum' | 'service' | 'member'

/** What has a name in each kind of descriptor, by field number. */
const PARTS: Readonly<Record<Kind, Readonly<Record<number, Kind>>>> = {
  file: { 4: 'message', 5: 'enum', [FILE_SERVICE]: 'service' },
  message: { 2: 'member', 3: 'message', 4: 'enum', 8: 'member' },
  enum: { 2: 'member' },
  service: { 2: 'member' },
  member: {},
}

function contractsIn(descriptors: Uint8Array): Contracts {
  const files = new Map<string, File>()
  const symbols = new Map<string, string>()
  const services: string[] = []
  for (const bytes of fieldsOf(descriptors)(SET_FILE)) {
    const fields = fieldsOf(bytes)
    const [name = ''] = fields(NAME).map(textOf)
    const [scope = ''] = fields(FILE_PACKAGE).map(textOf)
    files.set(name, { bytes, imports: fields(FILE_DEPENDENCY).map(textOf) })
    for (const symbol of namesIn('file', bytes, scope)) symbols.set(symbol, name)
    for (const service of fields(FILE_SERVICE))
      services.push(`${scope}.${fieldsOf(service)(NAME).map(textOf).join()}`)
  }
  return { files, symbols, services }
}

/** The full names of what is declared in a descriptor. */
function namesIn(kind: Kind, bytes: Uint8Array, scope: string): string[] {
  const fields = fieldsOf(bytes)
  return Object.entries(PARTS[kind]).flatMap(([number, part]) =>
    fields(Number(number)).flatMap((each) => {
      const name = `${scope}.${fieldsOf(each)(NAME).map(textOf).join()}`
      return [name, ...namesIn(part, each, name)]
    }),
  )
}

const LENGTH_DELIMITED = 2

/** The length-delimited fields of a message, by number. */
function fieldsOf(bytes: Uint8Array): (field: number) => readonly Uint8Array[] {
  const found = new Map<number, Uint8Array[]>()
  const reader = protobuf.Reader.create(bytes)
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const [field, type] = [tag >>> 3, tag & 7]
    if (type !== LENGTH_DELIMITED) reader.skipType(type)
    else found.set(field, [...(found.get(field) ?? []), reader.bytes()])
  }
  return (field) => found.get(field) ?? []
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
