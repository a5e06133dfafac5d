/**
 * Server reflection over the contracts of internal services and the health service.
 *
 * - proto-loader's descriptors cannot be linked by strict clients such as `buf curl`: names of
 *   types are relative, entries of maps have other names than protoc gives them, and optional
 *   fields are not marked. Here they are as protoc makes them.
 */
import type { Server } from '@grpc/grpc-js'
import type { PackageDefinition } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import descriptor from 'protobufjs/ext/descriptor/index.js'
import { describedContracts } from '../../base/protos.js'

let service: ReflectionService | undefined

/** Takes a tenth of a second, once. */
export const prepareReflection = (): ReflectionService =>
  (service ??= new ReflectionService(linked(describedContracts())))

export function addReflection(server: Server): void {
  prepareReflection().addToServer(server)
}

interface Field {
  readonly name: string
  readonly oneofIndex?: number
  typeName?: string
  proto3Optional?: boolean
}

interface Message {
  name: string
  readonly field?: readonly Field[]
  readonly nestedType?: readonly Message[]
  readonly oneofDecl?: readonly { readonly name: string }[]
  readonly options?: { readonly mapEntry?: boolean } | null
}

interface Service {
  readonly method?: readonly { inputType: string; outputType: string }[]
}

interface File {
  readonly package: string
  readonly messageType?: readonly Message[]
  readonly service?: readonly Service[]
}

/** Every definition holds all files, so one of them suffices. */
function linked(contracts: PackageDefinition): PackageDefinition {
  return Object.fromEntries(
    Object.entries(contracts)
      .slice(0, 1)
      .map(([name, definition]) => [
        name,
        { ...definition, fileDescriptorProtos: filesOf(definition).map(linkedFile) },
      ]),
  ) as PackageDefinition
}

const filesOf = (definition: object): readonly Buffer[] =>
  (definition as { readonly fileDescriptorProtos?: readonly Buffer[] }).fileDescriptorProtos ?? []

function linkedFile(bytes: Buffer): Buffer {
  const { FileDescriptorProto } = descriptor
  const file = FileDescriptorProto.decode(bytes)
  const { package: scope, messageType = [], service = [] } = file as unknown as File
  for (const message of messageType) complete(message)
  const names = new Set(messageType.flatMap((message) => namesIn(message, `.${scope}`)))
  for (const message of messageType) link(message, `.${scope}`, names)
  for (const method of service.flatMap(({ method: methods }) => methods ?? [])) {
    method.inputType = absolute(method.inputType, `.${scope}`, names)
    method.outputType = absolute(method.outputType, `.${scope}`, names)
  }
  return Buffer.from(FileDescriptorProto.encode(file).finish())
}

function complete({ field = [], nestedType = [], oneofDecl = [] }: Message): void {
  for (const nested of nestedType) {
    complete(nested)
    if (nested.options?.mapEntry !== true) continue
    const { name } = nested
    nested.name = entryName(name)
    const isOfEntry = ({ typeName = '' }: Field): boolean => `.${typeName}`.endsWith(`.${name}`)
    for (const map of field.filter(isOfEntry)) map.typeName = nested.name
  }
  for (const each of field) {
    // `Object.hasOwn`: an absent index reads as 0.
    const oneof = Object.hasOwn(each, 'oneofIndex') ? oneofDecl[each.oneofIndex ?? -1] : undefined
    if (oneof?.name === `_${each.name}`) each.proto3Optional = true
  }
}

/** `Fee_details` is `FeeDetailsEntry`. */
const entryName = (name: string): string =>
  `${name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`

const namesIn = ({ name, nestedType = [] }: Message, scope: string): string[] => [
  `${scope}.${name}`,
  ...nestedType.flatMap((nested) => namesIn(nested, `${scope}.${name}`)),
]

function link(
  { name, field = [], nestedType = [] }: Message,
  scope: string,
  names: ReadonlySet<string>,
): void {
  const own = `${scope}.${name}`
  for (const each of field) {
    if (each.typeName) each.typeName = absolute(each.typeName, own, names)
  }
  for (const nested of nestedType) link(nested, own, names)
}

/** The name, looked up in the scope and those around it. */
function absolute(name: string, scope: string, names: ReadonlySet<string>): string {
  if (name.startsWith('.') || scope === '') return name
  const found = `${scope}.${name}`
  return names.has(found) ? found : absolute(name, scope.slice(0, scope.lastIndexOf('.')), names)
}
