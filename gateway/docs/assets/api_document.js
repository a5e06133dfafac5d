/**
 * The OpenAPI document as this page shows it: without what every operation repeats, and with
 * requests that can be sent as they stand.
 *
 * @typedef {{ name: string, in: string, example?: string, $ref?: string }} Parameter
 * @typedef {object} Response
 * @property {Record<string, unknown>} [headers]
 * @property {Record<string, MediaType>} [content]
 * @typedef {object} MediaType
 * @property {Record<string, { value: unknown }>} [examples]
 * @property {unknown} [example]
 * @typedef {object} Components
 * @property {Record<string, { name: string }>} securitySchemes
 * @property {Record<string, Response>} responses
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {string[]} tags
 * @property {string} summary
 * @property {string} [description]
 * @property {Parameter[]} [parameters]
 * @property {{ content: Record<string, MediaType> }} [requestBody]
 * @property {Record<string, string[]>[]} [security]
 * @property {Record<string, Response>} responses
 * @typedef {object} Document
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{ version: string }} info
 * @property {Components} components
 *
 * @typedef {object} Described an operation with what this page knows about it
 * @property {string} method
 * @property {string} path
 * @property {RegExp} pattern
 * @property {Operation} operation
 * @property {string[]} bodies its example bodies, as text
 * @property {string} [shown] the one that the document has
 * @property {Map<string, string>} ids the example of each id in its path
 */

export const IDEMPOTENCY_KEY = 'Idempotency-Key'
const COMMON_HEADERS = ['X-Request-Id', 'X-Client-Request-Id', IDEMPOTENCY_KEY]
/** The example of any other query parameter would hide what was just made. */
const SHOWN_QUERY = ['limit', 'after']
const FIRST_ERROR = 400

/** Changes the document. @param {Document} document */
export function prepare({ paths, components }) {
  for (const response of Object.values(components.responses)) shorten(response, FIRST_ERROR)
  return Object.entries(paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
    return Object.entries(methods).map(([method, operation]) => {
      const bodies = takeBodies(operation)
      const ids = takeIds(operation)
      prepareOperation(operation)
      return /** @type {Described} */ ({
        method,
        path,
        pattern,
        operation,
        bodies,
        shown: bodies[0],
        ids,
      })
    })
  })
}

/** @param {Operation | undefined} operation */
export function schemesOf(operation) {
  return (operation?.security ?? []).flatMap((alternative) => Object.keys(alternative))
}

/** The key of each attempt until it is answered. Not `randomUUID`: insecure pages lack it. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @param {Operation} operation */
function takeBodies({ requestBody }) {
  const media = requestBody?.content['application/json']
  const examples = Object.values(media?.examples ?? {})
  if (media !== undefined) showOne(media)
  // Else Swagger UI makes one up from the schema.
  if (media !== undefined && examples.length === 0) media.example = {}
  return [...new Set(examples.map(({ value }) => JSON.stringify(value, null, 2)))]
}

/** The first example instead of a choice of several. @param {MediaType} media */
function showOne(media) {
  const [first] = Object.values(media.examples ?? {})
  if (first === undefined) return
  delete media.examples
  media.example = first.value
}

/** @param {Operation} operation */
function takeIds({ parameters = [] }) {
  const ids = new Map()
  for (const parameter of parameters) {
    if (parameter.in !== 'path') continue
    ids.set(parameter.name, parameter.example ?? '')
    delete parameter.example
  }
  return ids
}

/** Says how to authenticate, and fills in an idempotency key. @param {Operation} operation */
function prepareOperation(operation) {
  const schemes = schemesOf(operation)
  const ways = [
    ...(schemes.includes('signature') ? ['signed request'] : []),
    ...(schemes.includes('sessionToken') ? ['session token'] : []),
    ...(schemes.includes('receiptToken') ? ['receipt token'] : []),
  ]
  const authentication = ways.length === 0 ? 'none' : ways.join(' or ')
  operation.description = `${operation.description ?? ''}\n\nAuthentication: **${authentication}**.`
  const own = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined)
  for (const parameter of own) {
    if (parameter.name === IDEMPOTENCY_KEY) parameter.example = newKey()
    if (parameter.in === 'query' && !SHOWN_QUERY.includes(parameter.name)) delete parameter.example
  }
  operation.parameters = own
  for (const [status, response] of Object.entries(operation.responses)) {
    shorten(response, Number(status))
  }
}

/**
 * Headers that every answer has, and the envelope that every error has, would fill the page.
 *
 * @param {Response} response
 * @param {number} status
 */
function shorten(response, status) {
  for (const name of COMMON_HEADERS) delete response.headers?.[name]
  for (const media of Object.values(response.content ?? {})) showOne(media)
  if (status < FIRST_ERROR) return
  delete response.content
  delete response.headers
}
