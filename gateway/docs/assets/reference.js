/**
 * The API reference: Swagger UI over /openapi.json, with requests signed in this page.
 *
 * - The secret is read from its field for each request. It is not stored and not sent.
 * - Each operation that takes an idempotency key has a fresh one, which is replaced after a final
 *   answer: after a 5xx or no answer the same key is sent again.
 *
 * @typedef {{ name: string, in: string, example?: string }} Parameter
 * @typedef {{ headers?: Record<string, unknown> }} Response
 * @typedef {object} Components
 * @property {Record<string, { name: string }>} securitySchemes
 * @property {Record<string, Response>} responses
 * @typedef {object} Operation
 * @property {string} [description]
 * @property {Parameter[]} [parameters]
 * @property {Record<string, string[]>[]} [security]
 * @property {Record<string, Response>} responses
 * @typedef {object} Document
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{ version: string }} info
 * @property {Components} components
 *
 * @typedef {object} UiRequest
 * @property {string} url
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @typedef {object} UiResponse
 * @property {string} url
 * @property {number} status
 * @property {Record<string, unknown>} [body]
 */
import { signatureHeaders } from './signature.js'

const IDEMPOTENCY_KEY = 'Idempotency-Key'
const COMMON_HEADERS = ['X-Request-Id', 'X-Client-Request-Id', IDEMPOTENCY_KEY]

/** @type {Document} */
const api = await (await fetch('/openapi.json')).json()
const operations = operationsOf(api)
for (const { operation } of operations) prepare(operation)
for (const response of Object.values(api.components.responses)) omitCommonHeaders(response)
element('version').textContent = api.info.version

const canSign = window.isSecureContext
element('insecure').hidden = canSign
element('credentials').hidden = !canSign

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: Function }} */ (
  /** @type {unknown} */ (window)
)
const ui = SwaggerUIBundle({
  spec: api,
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: 'list',
  filter: true,
  supportedSubmitMethods: canSign ? ['get', 'post', 'patch', 'delete'] : [],
  syntaxHighlight: { activated: false },
  validatorUrl: null,
  requestInterceptor: authenticate,
  responseInterceptor: learn,
  plugins: [withoutRepetition, requireCredentials],
})

const dark = window.matchMedia('(prefers-color-scheme: dark)')
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followTheme)
followTheme()

/** The page has its own title, and fields instead of Swagger UI's dialog, which cannot sign. */
function withoutRepetition() {
  const nothing = () => () => null
  return {
    wrapComponents: {
      authorizeBtn: nothing,
      authorizeOperationBtn: nothing,
      InfoContainer: nothing,
      ServersContainer: nothing,
    },
  }
}

/** Credentials are validated with the parameters: without them nothing is sent. */
function requireCredentials() {
  /** @typedef {[path: string, method: string]} PathMethod */
  /** @param {(pathMethod: PathMethod) => unknown} original */
  const validateParams =
    (original) =>
    (/** @type {PathMethod} */ [path, method]) => {
      askFor(missingField(api.paths[path]?.[method]))
      return original([path, method])
    }
  /** @param {(state: unknown, pathMethod: PathMethod) => boolean} original */
  const validateBeforeExecute =
    (original) =>
    (/** @type {unknown} */ state, /** @type {PathMethod} */ [path, method]) =>
      original(state, [path, method]) && missingField(api.paths[path]?.[method]) === undefined
  return {
    statePlugins: {
      spec: { wrapActions: { validateParams }, wrapSelectors: { validateBeforeExecute } },
    },
  }
}

/**
 * How this page authenticates an operation. Where there is a choice, an entered key decides.
 *
 * @param {Operation | undefined} operation
 * @returns {'signature' | 'session-token' | 'receipt-token' | 'none'}
 */
function authenticationOf(operation) {
  const schemes = schemesOf(operation)
  const takesToken = schemes.includes('sessionToken')
  if (schemes.includes('signature') && (!takesToken || valueOf('secret') !== '')) return 'signature'
  if (takesToken) return 'session-token'
  return schemes.includes('receiptToken') ? 'receipt-token' : 'none'
}

/** @param {Operation | undefined} operation */
function schemesOf(operation) {
  return (operation?.security ?? []).flatMap((alternative) => Object.keys(alternative))
}

/** The id of an empty field that the operation needs. @param {Operation | undefined} operation */
function missingField(operation) {
  const authentication = authenticationOf(operation)
  if (authentication === 'none') return undefined
  const needed = authentication === 'signature' ? ['key-id', 'secret'] : [authentication]
  return needed.find((id) => valueOf(id) === '')
}

/** @param {string | undefined} id */
function askFor(id) {
  const hint = element('missing')
  hint.hidden = id === undefined
  if (id === undefined) return
  const field = input(id)
  hint.textContent = `This operation needs: ${field.labels?.[0]?.firstChild?.textContent}.`
  field.focus()
}

/** @param {UiRequest} request */
async function authenticate(request) {
  const { pathname } = new URL(request.url, location.href)
  const authentication = authenticationOf(find(request.method, pathname)?.operation)
  if (authentication === 'signature') {
    const key = { keyId: valueOf('key-id'), secret: valueOf('secret') }
    const method = request.method.toUpperCase()
    const signed = { method, path: pathname, body: request.body ?? '' }
    Object.assign(request.headers, await signatureHeaders(headerNames(), key, signed))
  } else if (authentication !== 'none') {
    request.headers.Authorization = `Bearer ${valueOf(authentication)}`
  }
  return request
}

/** Takes tokens from an answer and renews the idempotency key. @param {UiResponse} response */
function learn(response) {
  const { session_token: session, receipt_token: receipt } = response.body ?? {}
  if (typeof session === 'string') input('session-token').value = session
  if (typeof receipt === 'string') input('receipt-token').value = receipt
  if (response.status < 500) {
    const { pathname } = new URL(response.url, location.href)
    const found = find('post', pathname)
    const hasKey = found?.operation.parameters?.some(({ name }) => name === IDEMPOTENCY_KEY)
    if (found !== undefined && hasKey) renewKey(found.path)
  }
  return response
}

/** @param {string} path */
function renewKey(path) {
  /** @type {Iterable<{ get(member: string): unknown }>} */
  const parameters = ui.specSelectors.specJson().getIn(['paths', path, 'post', 'parameters'])
  for (const parameter of parameters) {
    if (parameter.get('name') !== IDEMPOTENCY_KEY) continue
    ui.specActions.changeParamByIdentity([path, 'post'], parameter, newKey(), false)
  }
}

/** Not `randomUUID`: a page that cannot sign lacks it, and shows the reference all the same. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Says how to authenticate, and fills in an idempotency key. @param {Operation} operation */
function prepare(operation) {
  const schemes = schemesOf(operation)
  const ways = [
    ...(schemes.includes('signature') ? ['signed request'] : []),
    ...(schemes.includes('sessionToken') ? ['session token'] : []),
    ...(schemes.includes('receiptToken') ? ['receipt token'] : []),
  ]
  const authentication = ways.length === 0 ? 'none' : ways.join(' or ')
  operation.description = `${operation.description ?? ''}\n\nAuthentication: **${authentication}**.`
  for (const parameter of operation.parameters ?? []) {
    if (parameter.name === IDEMPOTENCY_KEY) parameter.example = newKey()
  }
  for (const response of Object.values(operation.responses)) omitCommonHeaders(response)
}

/** Headers that every answer has would fill the page. @param {Response} response */
function omitCommonHeaders({ headers }) {
  for (const name of COMMON_HEADERS) delete headers?.[name]
}

/** @param {Document} document */
function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
    return Object.entries(methods).map(([method, operation]) => {
      return { method, path, pattern, operation }
    })
  })
}

/**
 * @param {string} method
 * @param {string} pathname
 */
function find(method, pathname) {
  return operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(pathname))
}

/** The names carry the brand of the installation. */
function headerNames() {
  const { signatureKeyId, signatureTimestamp, signatureNonce, signature } =
    api.components.securitySchemes
  return {
    keyId: signatureKeyId.name,
    timestamp: signatureTimestamp.name,
    nonce: signatureNonce.name,
    signature: signature.name,
  }
}

/** @param {string} id */
function valueOf(id) {
  return input(id).value.trim()
}

/** @param {string} id */
function input(id) {
  return /** @type {HTMLInputElement} */ (element(id))
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no element ${id}`)
  return found
}
