/** The methods of the TypeScript client as source text, before the formatter. */
import type { Properties, Schema } from '../../../src/api/schema.js'
import { callsByNoun, classOf, SIGNED_CALLS, type SignedCall } from './signed_calls.js'

const HEADER = `/**
 * Calls of signed requests, made from the operations in src/api by \`make openapi\`.
 */
import type * as T from './api_types.js'
import type { Calls, Keyed } from './calls.js'
import type { PageFilter } from './pagination.js'
import type { CreatePayout } from './payout_request.js'
import { pathOf, type CallOptions } from './request.js'
`

/** Types that are stricter than those of the document. */
const STRICTER: Readonly<Record<string, string>> = { CreatePayoutRequest: 'CreatePayout' }

export function typescriptCalls(): string {
  const own = callsByNoun().get(undefined) ?? []
  const nouns = [...callsByNoun()].flatMap(([noun, calls]) =>
    noun === undefined ? [] : [`${noun}: { ${calls.map(methodOf).join('\n')} },`],
  )
  return [
    HEADER,
    ...SIGNED_CALLS.flatMap(filterOf),
    `export const callsOf = (call: Calls) => ({ ${own.map(methodOf).join('\n')}`,
    ...nouns,
    '})\n',
  ].join('\n')
}

const camelOf = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const hasOwnFilter = ({ filters }: SignedCall): boolean =>
  Object.keys(filters).join() !== 'limit,cursor'

const filterName = (call: SignedCall): string =>
  hasOwnFilter(call) ? `${classOf(call.id)}Filter` : 'PageFilter'

function filterOf(call: SignedCall): readonly string[] {
  if (Object.keys(call.filters).length === 0 || !hasOwnFilter(call)) return []
  return [`export interface ${filterName(call)} { ${membersOf(call.filters)} }\n`]
}

const membersOf = (filters: Properties): string =>
  Object.entries(filters)
    .map(
      ([name, schema]) => `/** ${descriptionOf(schema)} */\nreadonly ${name}?: ${typeOf(schema)}`,
    )
    .join('\n')

const descriptionOf = ({ description }: Schema): string =>
  typeof description === 'string' ? description : ''

function typeOf({ type, enum: values }: Schema): string {
  if (Array.isArray(values)) return values.map((value) => `'${String(value)}'`).join(' | ')
  return type === 'integer' ? 'number' : 'string'
}

function methodOf(call: SignedCall): string {
  const { name, description, isKeyed, reading, result } = call
  const last = isKeyed ? 'keyed?: Keyed' : 'options?: CallOptions'
  const parameters = [...idOf(call), ...bodyOf(call), ...filterArgument(call), last]
  const type = result === undefined ? 'never' : `T.${result}`
  const isNumbered = reading === 'numbered_list'
  const types = isNumbered ? `${type}, T.${call.page}` : type
  const text = description.replaceAll('\n\n', ' ')
  return [
    `/** ${text} */`,
    `${name}: (${parameters.join(', ')}) => call.${sendOf(call)}<${types}>(${sentOf(call)}),`,
  ].join('\n')
}

const idOf = ({ path }: SignedCall): readonly string[] =>
  typeof path === 'string' ? [] : ['id: string']

function bodyOf({ body }: SignedCall): readonly string[] {
  if (body === undefined) return []
  const stricter = STRICTER[body.schema]
  const type = stricter ?? `T.${body.schema}`
  return body.single === undefined
    ? [`${body.name}${body.isRequired ? '' : '?'}: ${type}`]
    : [`${camelOf(body.name)}: ${type}['${body.single}']`]
}

const filterArgument = (call: SignedCall): readonly string[] =>
  Object.keys(call.filters).length === 0 ? [] : [`filter: ${filterName(call)} = {}`]

const SENT_BY = {
  items: 'items',
  cursor_list: 'cursorList',
  numbered_list: 'numberedList',
  only_page: 'onlyPage',
} as const

function sendOf({ reading, isKeyed, isRepeatable }: SignedCall): string {
  if (reading !== 'answer') return SENT_BY[reading]
  if (isKeyed) return 'keyed'
  return isRepeatable ? 'repeatable' : 'once'
}

function sentOf({ reading, method, path, body, filters, isKeyed }: SignedCall): string {
  const [before, after] = typeof path === 'string' ? [path, ''] : path
  const rest = after === '' ? '' : `, '${after}'`
  const to = typeof path === 'string' ? `'${path}'` : `pathOf('${before}', id${rest})`
  if (reading !== 'answer') {
    return [to, ...(Object.keys(filters).length === 0 ? [] : ['filter']), 'options'].join(', ')
  }
  const sent =
    body === undefined
      ? 'undefined'
      : body.single === undefined
        ? body.name
        : `{ ${body.single}: ${camelOf(body.name)} }`
  return `'${method}', ${to}, ${sent}, ${isKeyed ? 'keyed' : 'options'}`
}
