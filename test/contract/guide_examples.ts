/**
 * The examples of the partner guide: sections between `<!-- example operationId -->` and
 * `<!-- end -->` hold the recorded exchange of that operation.
 */
import type { Examples, Exchange } from '../../gateway/openapi/examples.js'

const SECTION = /(<!-- example ([A-Za-z]+) -->\n)[^]*?(<!-- end -->)/g

/** @throws when a section names an operation without an example */
export function withExamples(guide: string, { operations }: Examples): string {
  return guide.replaceAll(SECTION, (_section, begin: string, id: string, end: string) => {
    const exchange = operations[id]?.[0]
    if (exchange === undefined) throw new Error(`the guide shows ${id}, which has no example`)
    return `${begin}\n${shown(exchange)}\n${end}`
  })
}

function shown({ request, answer }: Exchange): string {
  const { method, path, headers, body } = request
  const key = headers['Idempotency-Key']
  const sent = [
    `${method} ${path}`,
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
    ...(body === undefined ? [] : ['', JSON.stringify(body, null, 2)]),
  ]
  return [
    '```http',
    ...sent,
    '```',
    '',
    `Answer ${answer.status}:`,
    '',
    '```json',
    JSON.stringify(answer.body, null, 2),
    '```',
    '',
  ].join('\n')
}
