/** The collection as a folder of Bruno's `.bru` files. */
import type { CollectionRequest } from './operations.js'

export interface CollectionScripts {
  readonly beforeRequest: string
  readonly afterAnswer: string
}

export interface TextFile {
  readonly path: string
  readonly text: string
}

/** The secret stays on the user's machine. */
const ENVIRONMENT = `vars {
  base_url: http://127.0.0.1:8080
  key_id:
}
vars:secret [
  signing_secret
]
`

export function brunoFiles(
  name: string,
  requests: readonly CollectionRequest[],
  { beforeRequest, afterAnswer }: CollectionScripts,
): readonly TextFile[] {
  const folders = [...new Set(requests.map(({ folder }) => folder))]
  return [
    {
      path: 'bruno.json',
      text: `${JSON.stringify({ version: '1', name, type: 'collection', ignore: [] }, null, 2)}\n`,
    },
    {
      path: 'collection.bru',
      text: blocks([
        ['script:pre-request', beforeRequest],
        ['script:post-response', afterAnswer],
      ]),
    },
    {
      path: 'environments/sandbox.bru',
      text: ENVIRONMENT,
    },
    ...folders.map((folder, index) => ({
      path: `${slug(folder)}/folder.bru`,
      text: blocks([['meta', pairs({ name: folder, seq: index + 1 })]]),
    })),
    ...folders.flatMap((folder) =>
      requests
        .filter((request) => request.folder === folder)
        .map((request, index) => ({
          path: `${slug(folder)}/${slug(request.id)}.bru`,
          text: requestText(request, index + 1),
        })),
    ),
  ]
}

function requestText(request: CollectionRequest, seq: number): string {
  const { name, method, url, query, headers, body, description, statuses } = request
  const bodyKind = body === '' ? 'none' : 'json'
  return blocks([
    ['meta', pairs({ name, type: 'http', seq })],
    [method.toLowerCase(), pairs({ url, body: bodyKind, auth: 'none' })],
    ['params:query', query.map((parameter) => `~${parameter}: `).join('\n')],
    ['headers', pairs(headers)],
    ['body:json', body],
    ['assert', `res.status: in [${statuses.join(', ')}]`],
    ['docs', description],
  ])
}

const pairs = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Empty blocks are left out. */
const blocks = (all: readonly (readonly [name: string, text: string])[]): string =>
  all
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name} {\n${indented(text)}\n}\n`)
    .join('\n')

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

/** `createPayout` and `Payment intents` as names of files. */
const slug = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(' ', '_')
    .toLowerCase()
