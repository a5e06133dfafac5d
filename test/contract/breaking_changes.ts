/**
 * Finds changes that would break a client of an earlier document.
 *
 * - Requests may only become wider, answers only narrower; CHANGELOG.md defines additions.
 * - Descriptions and examples do not count.
 */
type Json = Readonly<Record<string, unknown>>
type Side = 'request' | 'answer'

const objectIn = (parent: unknown, name: string): Json => {
  const value = (parent as Json | undefined)?.[name]
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
const listIn = (parent: Json, name: string): readonly unknown[] => {
  const value = parent[name]
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** The faults, each with its where; empty when no client breaks. */
export function breakingChanges(released: Json, current: Json): readonly string[] {
  const faults: string[] = []
  const say = (where: string, fault: string): void => void faults.push(`${where}: ${fault}`)
  const before = (part: unknown): Json => resolved(released, part)
  const now = (part: unknown): Json => resolved(current, part)

  const compareSchemas = (where: string, side: Side, one: unknown, other: unknown): void => {
    const old = before(one)
    const isSplit = side === 'answer' && 'properties' in old && 'oneOf' in now(other)
    const next = isSplit ? merged(listIn(now(other), 'oneOf').map(now)) : now(other)
    for (const fault of ownFaults(side, old, next)) say(where, fault)
    const [oldMembers, members] = [objectIn(old, 'properties'), objectIn(next, 'properties')]
    for (const [name, member] of Object.entries(oldMembers)) {
      if (name in members) compareSchemas(`${where}.${name}`, side, member, members[name])
      else say(where, `member ${name} is removed`)
    }
    for (const name of ['items', 'additionalProperties']) {
      const [from, to] = [old[name], next[name]]
      if (typeof from === 'object') compareSchemas(`${where}.${name}`, side, from, to ?? {})
    }
    for (const name of ['oneOf', 'anyOf', 'allOf']) {
      const [from, to] = [listIn(old, name), listIn(next, name)]
      if (from.length !== to.length) say(where, `${name} has another number of schemas`)
      else from.forEach((part, i) => compareSchemas(`${where}.${name}[${i}]`, side, part, to[i]))
    }
  }

  const contentOf = (part: Json): unknown =>
    objectIn(objectIn(part, 'content'), 'application/json')['schema']

  const compareParameters = (where: string, old: Json, next: Json): void => {
    const named = (part: Json, resolve: (one: unknown) => Json): ReadonlyMap<string, Json> =>
      new Map(
        listIn(part, 'parameters')
          .map(resolve)
          .map((one) => [`${String(one['in'])} ${String(one['name'])}`, one]),
      )
    const [from, to] = [named(old, before), named(next, now)]
    for (const [name, parameter] of from) {
      const other = to.get(name)
      if (other === undefined) say(where, `parameter ${name} is removed`)
      else compareSchemas(`${where} ${name}`, 'request', parameter['schema'], other['schema'])
    }
    for (const [name, { required }] of to) {
      if (required === true && from.get(name)?.['required'] !== true) {
        say(where, `parameter ${name} is required`)
      }
    }
  }

  const compareAnswers = (where: string, old: Json, next: Json): void => {
    const [from, to] = [objectIn(old, 'responses'), objectIn(next, 'responses')]
    for (const [status, response] of Object.entries(from)) {
      const [one, other] = [before(response), now(to[status])]
      if (!(status in to)) say(where, `status ${status} is removed`)
      else if (status.startsWith('2')) {
        compareSchemas(`${where} ${status}`, 'answer', contentOf(one), contentOf(other))
        for (const name of Object.keys(objectIn(one, 'headers'))) {
          if (!(name in objectIn(other, 'headers'))) say(where, `header ${name} is removed`)
        }
      } else {
        const codes = new Set(codesOf(contentOf(other)))
        for (const code of codesOf(contentOf(one))) {
          if (!codes.has(code)) say(where, `code ${code} is no longer a ${status}`)
        }
      }
    }
    const added = Object.keys(to).filter((status) => status.startsWith('2') && !(status in from))
    for (const status of added) say(where, `status ${status} is a new success`)
  }

  const compareOperations = (where: string, old: Json, next: Json): void => {
    if (old['operationId'] !== next['operationId']) say(where, 'the operationId is another one')
    const accepted = listIn(next, 'security').map((one) => JSON.stringify(one))
    for (const proof of listIn(old, 'security')) {
      if (!accepted.includes(JSON.stringify(proof))) say(where, 'an authentication is removed')
    }
    if (listIn(old, 'security').length === 0 && accepted.length > 0) {
      say(where, 'it needs an authentication')
    }
    compareParameters(where, old, next)
    const [from, to] = [objectIn(old, 'requestBody'), objectIn(next, 'requestBody')]
    if (to['required'] === true && from['required'] !== true) say(where, 'the body is required')
    if ('content' in from && !('content' in to)) say(where, 'the body is removed')
    compareSchemas(`${where} body`, 'request', contentOf(from), contentOf(to))
    compareAnswers(where, old, next)
  }

  for (const [path, methods] of Object.entries(objectIn(released, 'paths'))) {
    for (const [method, operation] of Object.entries(methods as Json)) {
      const next = objectIn(objectIn(objectIn(current, 'paths'), path), method)
      const where = `${method.toUpperCase()} ${path}`
      if ('responses' in next) compareOperations(where, operation as Json, next)
      else say(where, 'the operation is removed')
    }
  }
  for (const [type, { post }] of Object.entries(objectIn(released, 'webhooks')) as [
    string,
    Json,
  ][]) {
    const next = objectIn(objectIn(objectIn(current, 'webhooks'), type), 'post')
    if (!('requestBody' in next)) say(type, 'the webhook is removed')
    else {
      const from = contentOf(objectIn(post, 'requestBody'))
      compareSchemas(type, 'answer', from, contentOf(objectIn(next, 'requestBody')))
    }
  }
  return faults
}

/** A client that knows one schema reads a union of variants as one: the members of all. */
function merged(variants: readonly Json[]): Json {
  const [first = {}] = variants
  if (!variants.every((variant) => 'properties' in variant)) return first
  const names = variants.flatMap((variant) => Object.keys(objectIn(variant, 'properties')))
  const membersOf = (name: string): readonly Json[] =>
    variants.flatMap((variant) => {
      const members = objectIn(variant, 'properties')
      return name in members ? [objectIn(members, name)] : []
    })
  const isInAll = (name: unknown): boolean =>
    variants.every((variant) => listIn(variant, 'required').includes(name))
  return {
    ...first,
    required: listIn(first, 'required').filter(isInAll),
    properties: Object.fromEntries(names.map((name) => [name, merged(membersOf(name))])),
  }
}

function resolved(document: Json, part: unknown): Json {
  if (typeof part !== 'object' || part === null) return {}
  const { $ref } = part as Json
  if (typeof $ref !== 'string') return part as Json
  return $ref
    .split('/')
    .slice(1)
    .reduce((at, name) => objectIn(at, name), document)
}

/** Codes of an error response, which narrow the shared envelope. */
function codesOf(schema: unknown): readonly string[] {
  const [, narrowed] = listIn((schema ?? {}) as Json, 'allOf')
  const error = objectIn(objectIn(narrowed, 'properties'), 'error')
  return listIn(objectIn(objectIn(error, 'properties'), 'code'), 'enum') as readonly string[]
}

const typesOf = ({ type }: Json): readonly unknown[] =>
  type === undefined ? [] : Array.isArray(type) ? (type as unknown[]) : [type]

const LOWER = ['minLength', 'minimum', 'minItems', 'minProperties']
const UPPER = ['maxLength', 'maximum', 'maxItems', 'maxProperties']

function ownFaults(side: Side, old: Json, next: Json): readonly string[] {
  const faults: string[] = []
  const [from, to] = [typesOf(old), typesOf(next)]
  const isRetyped =
    side === 'request'
      ? to.length > 0 && (from.length === 0 || from.some((type) => !to.includes(type)))
      : from.length > 0 && (to.length === 0 || to.some((type) => !from.includes(type)))
  if (isRetyped) faults.push(`the type was ${from.join()} and is ${to.join()}`)
  if (old['format'] !== next['format']) faults.push('the format is another one')
  return [...faults, ...(side === 'request' ? narrowing(old, next) : widening(old, next))]
}

function narrowing(old: Json, next: Json): readonly string[] {
  const faults: string[] = []
  const required = listIn(next, 'required').filter(
    (name) => !listIn(old, 'required').includes(name),
  )
  for (const name of required) faults.push(`member ${String(name)} is required`)
  if (next['enum'] !== undefined) {
    const gone = listIn(old, 'enum').filter((value) => !listIn(next, 'enum').includes(value))
    if (old['enum'] === undefined) faults.push('it is an enumeration')
    for (const value of gone) faults.push(`value ${String(value)} is removed`)
  }
  if (next['pattern'] !== undefined && next['pattern'] !== old['pattern']) {
    faults.push('the pattern is another one')
  }
  const bound = (part: Json, name: string, none: number): number => Number(part[name] ?? none)
  for (const name of LOWER) {
    if (bound(next, name, -Infinity) > bound(old, name, -Infinity)) faults.push(`${name} rose`)
  }
  for (const name of UPPER) {
    if (bound(next, name, Infinity) < bound(old, name, Infinity)) faults.push(`${name} fell`)
  }
  if (next['additionalProperties'] === false && old['additionalProperties'] !== false) {
    faults.push('it is closed')
  }
  return faults
}

const widening = (old: Json, next: Json): readonly string[] =>
  listIn(old, 'required')
    .filter((name) => !listIn(next, 'required').includes(name))
    .map((name) => `member ${String(name)} can be absent`)
