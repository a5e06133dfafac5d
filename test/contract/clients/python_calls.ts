/** The methods of the Python client as source text. */
import { docOf, type PythonTypes } from './python_types.js'
import { callsByNoun, classOf, snakeOf, type SignedCall } from './signed_calls.js'

const PURPOSE = 'Calls of signed requests, made from the operations in src/api by `make openapi`.'
const HEADER = `${docOf(PURPOSE, '').join('\n')}

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import types as t
from .calls import Operations, Send
from .pagination import List, next_cursor, next_number, only_page
from .request import path_of
`
const WIDTH_MAX = 100

export function pythonCalls(types: PythonTypes): string {
  const nouns = [...callsByNoun()].flatMap(([noun, calls]) =>
    noun === undefined ? [] : [[noun, calls] as const],
  )
  const own = callsByNoun().get(undefined) ?? []
  const classes = nouns.map(([noun, calls]) => classText(types, nounClass(noun), [], calls))
  const fields = nouns.map(([noun]) => `        self.${snakeOf(noun)} = ${nounClass(noun)}(send)`)
  const start = [
    '    def __init__(self, send: Send) -> None:',
    '        super().__init__(send)',
    ...fields,
  ]
  return [HEADER, ...classes, classText(types, 'Calls', [start.join('\n')], own)].join('\n\n')
}

const nounClass = (noun: string): string => `${classOf(noun)}Calls`

function classText(
  types: PythonTypes,
  name: string,
  first: readonly string[],
  calls: readonly SignedCall[],
): string {
  const methods = [...first, ...calls.map((call) => methodOf(types, call))]
  return `class ${name}(Operations):\n${methods.join('\n\n')}\n`
}

function methodOf(types: PythonTypes, call: SignedCall): string {
  const body = argumentOf(types, call)
  const filters = Object.entries(call.filters).map(
    ([name, schema]) => `${name}: Optional[${types.hintOf(schema)}] = None`,
  )
  const parameters = [
    'self',
    ...(typeof call.path === 'string' ? [] : ['id: str']),
    ...body,
    ...filters,
    ...(call.isKeyed ? ['idempotency_key: Optional[str] = None'] : []),
  ]
  const result = resultOf(types, call)
  return [
    joined(`    def ${snakeOf(call.name)}(`, parameters, `) -> ${result}:`),
    ...docOf(call.description, '        '),
    joined(
      '        return ' + senderOf(call),
      sentOf(call),
      call.reading === 'items' ? ITEMS : ')',
    ),
  ].join('\n')
}

/** On one line if it fits, else an argument on each. */
function joined(before: string, parts: readonly string[], after: string): string {
  const line = `${before}${parts.join(', ')}${after}`
  if (line.length <= WIDTH_MAX) return line
  const indent = /^ */.exec(before)?.[0] ?? ''
  return [before, ...parts.map((part) => `${indent}    ${part},`), `${indent}${after}`].join('\n')
}

function argumentOf(types: PythonTypes, { body }: SignedCall): readonly string[] {
  if (body === undefined) return []
  const { name, schema, single, singleSchema, isRequired } = body
  if (single !== undefined) return [`${name}: ${types.hintOf(singleSchema)}`]
  const type = `t.${types.nameOf(schema)}`
  return [isRequired ? `${name}: ${type}` : `${name}: Optional[${type}] = None`]
}

function resultOf(types: PythonTypes, { reading, result }: SignedCall): string {
  if (result === undefined) return 'Any'
  const type = `t.${types.nameOf(result)}`
  if (reading === 'answer') return type
  return reading === 'items' ? `Sequence[${type}]` : `List[${type}]`
}

function senderOf({ reading, isKeyed, isRepeatable }: SignedCall): string {
  if (reading === 'items') return 'self._get('
  if (reading !== 'answer') return 'List('
  if (isKeyed) return 'self._keyed('
  return isRepeatable ? 'self._repeatable(' : 'self._once('
}

const ITEMS = ')["data"]'

const NEXT_OF = {
  cursor_list: 'next_cursor',
  numbered_list: 'next_number',
  only_page: 'only_page',
} as const

function sentOf({ reading, method, path, body, filters, isKeyed }: SignedCall): readonly string[] {
  const [before, after] = typeof path === 'string' ? [path, ''] : path
  const rest = after === '' ? '' : `, "${after}"`
  const to = typeof path === 'string' ? `"${path}"` : `path_of("${before}", id${rest})`
  if (reading === 'items') return [to]
  if (reading !== 'answer') {
    const parameters = Object.keys(filters).map((name) => `"${name}": ${name}`)
    const dictionary = joined('            {', parameters, '}').trim()
    return ['self._get', to, dictionary, NEXT_OF[reading]]
  }
  const sent =
    body === undefined
      ? isKeyed
        ? ['None']
        : []
      : [body.single === undefined ? body.name : `{"${body.single}": ${body.name}}`]
  return [`"${method}"`, to, ...sent, ...(isKeyed ? ['idempotency_key'] : [])]
}
