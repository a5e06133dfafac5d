/** The collection as one file in Postman's format 2.1. */
import type { CollectionScripts, TextFile } from './bruno.js'
import type { CollectionRequest } from './operations.js'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'
/** Set by you, then by the answers. */
const VARIABLES = { base_url: 'http://127.0.0.1:8080', key_id: '', signing_secret: '' }

export function postmanFile(
  name: string,
  requests: readonly CollectionRequest[],
  { beforeRequest, afterAnswer }: CollectionScripts,
): TextFile {
  const folders = [...new Set(requests.map(({ folder }) => folder))]
  const collection = {
    info: { name, schema: SCHEMA },
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    event: [eventOf('prerequest', beforeRequest), eventOf('test', afterAnswer)],
    item: folders.map((folder) => ({
      name: folder,
      item: requests.filter((request) => request.folder === folder).map(itemOf),
    })),
  }
  return {
    path: 'causeway.postman_collection.json',
    text: `${JSON.stringify(collection, null, 2)}\n`,
  }
}

const eventOf = (listen: string, script: string): object => ({
  listen,
  script: { type: 'text/javascript', exec: script.trimEnd().split('\n') },
})

const assertionOf = (statuses: readonly number[]): string =>
  `pm.test('status ${statuses.join(' or ')}', () => ` +
  `pm.expect(pm.response.code).to.be.oneOf([${statuses.join(', ')}]))`

function itemOf(item: CollectionRequest): object {
  const { name, description, method, url, query, headers, body, statuses } = item
  const [host = '', ...path] = url.split('/')
  return {
    name,
    event: [eventOf('test', assertionOf(statuses))],
    request: {
      method,
      description,
      header: Object.entries(headers).map(([key, value]) => ({ key, value })),
      url: {
        raw: url,
        host: [host],
        path,
        query: query.map((key) => ({ key, value: '', disabled: true })),
      },
      ...(body === ''
        ? {}
        : { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
    },
  }
}
