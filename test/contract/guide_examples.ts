/**
 * The examples of the partner guide: sections between `<!-- example operationId -->` and
 * `<!-- end -->` hold the recorded call of that operation.
 */
import { format } from 'prettier'
import type { Examples, RecordedCall } from '../../gateway/openapi/examples.js'

const SECTION = /(<!-- example ([A-Za-z]+) -->\n)[^]*?(<!-- end -->)/g
/** The size that a page of the documentation shows without scrolling. */
const LINE_LENGTH_MAX = 100

/** The operations with an example in the guide, in its order. */
export const operationsShown = (guide: string): readonly string[] =>
  [...guide.matchAll(SECTION)].map(([, , id = '']) => id)

/** A section whose operation has no example yet stays as it is. */
export async function withExamples(guide: string, { operations }: Examples): Promise<string> {
  const texts = new Map<string, string>()
  for (const id of operationsShown(guide)) {
    const recordedCall = operations[id]?.[0]
    if (recordedCall !== undefined) texts.set(id, await shown(recordedCall))
  }
  return guide.replaceAll(SECTION, (section, begin: string, id: string, end: string) => {
    const text = texts.get(id)
    return text === undefined ? section : `${begin}\n${text}\n${end}`
  })
}

async function shown({ request, answer }: RecordedCall): Promise<string> {
  const { method, path, headers, body } = request
  // A signature is valid for five minutes: the guide explains its headers once.
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('X-Service-'))
  const sent = [
    `${method} ${path}`,
    ...others.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', await compact(body)]),
  ]
  return [
    '```http',
    ...sent,
    '```',
    '',
    `Answer ${answer.status}:`,
    '',
    '```json',
    await compact(answer.body),
    '```',
    '',
  ].join('\n')
}

/** JSON in which an object or array that fits on a line takes one line. */
async function compact(value: unknown): Promise<string> {
  const text = await format(JSON.stringify(value), { parser: 'json', printWidth: LINE_LENGTH_MAX })
  return text.trimEnd()
}
