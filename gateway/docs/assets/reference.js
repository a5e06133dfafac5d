/**
 * The API reference: Swagger UI over /openapi.json, with requests signed in this page.
 *
 * - The secret is read from its field for each request. It is not stored and not sent.
 * - Each operation that takes an idempotency key has a fresh one, which is replaced after a final
 *   answer: after a 5xx or no answer the same key is sent again.
 * - A request that needs something that this page has not made yet is not sent.
 *
 * @typedef {import('./api_document.js').Document} Document
 * @typedef {import('./api_document.js').Described} Described
 * @typedef {import('./api_document.js').Operation} Operation
 *
 * @typedef {object} UiRequest
 * @property {string} url
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @typedef {object} UiResponse
 * @property {string} url
 * @property {number} status
 * @property {Record<string, any>} [body]
 * @typedef {{ get(member: string): unknown, toJS(): any }} Immutable
 */
import { IDEMPOTENCY_KEY, newKey, prepare, schemesOf } from './api_document.js'
import { element, input, useCredentials, valueOf } from './credentials.js'
import { curlCommand } from './curl.js'
import { createMade, kindOf, MAKERS } from './made.js'
import { signatureHeaders } from './signature.js'

/** The steps from nothing to an outcome. */
const JOURNEYS = [
  ['createPaymentIntent', 'scanQrCode', 'confirmPaymentIntent', 'getPaymentIntent'],
  ['createPayout', 'getPayout', 'listBalanceTransactions'],
  ['createWebhookEndpoint', 'testWebhookEndpoint', 'listDeliveries'],
]
const NOT_FINAL = ['authorized', 'processing', 'pending']
/** Where the receivers of the guides listen. */
const LOCAL_RECEIVER = 'http://127.0.0.1:3000/hooks'
/** The amount that a payer enters. */
const AMOUNT = /("local_amount_minor_units":\s*")\d+"/

useCredentials(() => (element('missing').hidden = true))

/** @type {Document} */
const api = await (await fetch('/openapi.json')).json()
const made = createMade(JSON.stringify(api.paths))
const operations = prepare(api)
varyAmount()
useLocalReceiver()
element('version').textContent = api.info.version

const canSign = window.isSecureContext
element('insecure').hidden = canSign
element('start').hidden = !canSign

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: Function }} */ (
  /** @type {unknown} */ (window)
)
const ui = SwaggerUIBundle({
  spec: api,
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: 'list',
  filter: true,
  supportedSubmitMethods: canSign ? ['get', 'post', 'patch', 'delete'] : [],
  syntaxHighlight: { activated: false },
  tryItOutEnabled: canSign,
  validatorUrl: null,
  requestInterceptor: authenticate,
  responseInterceptor: learn,
  onComplete: () => fillIn(),
  plugins: [withoutRepetition, requireWhatIsNeeded, withNextStep],
})

for (const link of document.querySelectorAll('[data-operation]')) {
  link.addEventListener('click', (event) => {
    event.preventDefault()
    open(link.getAttribute('data-operation') ?? '')
  })
}

/** Two equal payments of a user within a minute are a `duplicate_scan`. */
function varyAmount() {
  const scan = operationOf('scanQrCode')
  if (scan === undefined) return
  scan.bodies.forEach((body, index) => {
    const [random = 0] = crypto.getRandomValues(new Uint16Array(1))
    scan.bodies[index] = body.replace(AMOUNT, `$1${25_000 + (random % 10_000)}"`)
  })
}

/** A sandbox on this machine reaches a receiver on this machine. */
function useLocalReceiver() {
  const create = operationOf('createWebhookEndpoint')
  if (create === undefined || !['127.0.0.1', 'localhost'].includes(location.hostname)) return
  create.bodies.forEach((body, index) => {
    create.bodies[index] = body.replace(/("url":\s*)"[^"]*"/, `$1"${LOCAL_RECEIVER}"`)
  })
}

/** @param {string} id */
function operationOf(id) {
  return operations.find(({ operation }) => operation.operationId === id)
}

/** The page has its own title, and fields instead of Swagger UI's dialog, which cannot sign. */
function withoutRepetition() {
  const nothing = () => () => null
  return {
    wrapComponents: {
      authorizeBtn: nothing,
      authorizeOperationBtn: nothing,
      InfoContainer: nothing,
      ServersContainer: nothing,
      TryItOutButton: nothing,
    },
  }
}

/** What a request needs is validated with the parameters: without it nothing is sent. */
function requireWhatIsNeeded() {
  /** @typedef {[path: string, method: string]} PathMethod */
  /** @param {(pathMethod: PathMethod) => unknown} original */
  const validateParams = (original) => (/** @type {PathMethod} */ pathMethod) => {
    askFor(needOf(...pathMethod))
    return original(pathMethod)
  }
  /** @param {(state: unknown, pathMethod: PathMethod) => boolean} original */
  const validateBeforeExecute =
    (original) => (/** @type {unknown} */ state, /** @type {PathMethod} */ pathMethod) =>
      original(state, pathMethod) && needOf(...pathMethod) === undefined
  return {
    statePlugins: {
      spec: { wrapActions: { validateParams }, wrapSelectors: { validateBeforeExecute } },
    },
  }
}

/** A command that signs itself in place of the sent signature, and a button to the next step. */
function withNextStep() {
  /** @typedef {{ React: { createElement: Function } }} System */
  /** @typedef {{ request: Immutable }} CurlProps */
  const curl =
    (/** @type {unknown} */ _original, /** @type {System} */ { React }) =>
    (/** @type {CurlProps} */ { request }) => {
      const h = React.createElement
      const sent = request.toJS()
      const isSigned = sent.headers[headerNames().keyId] !== undefined
      const hint = 'It signs itself. Set the secret first: '
      return h(
        'div',
        { className: 'curl-command' },
        h('h4', null, 'The same in a shell'),
        isSigned && h('p', null, hint, h('code', null, "export SIGNING_SECRET='sk_…'")),
        copyable(h, curlCommand(sent, headerNames())),
      )
    }
  /** @typedef {{ response: Immutable, path: string, method: string }} AnswerProps */
  const liveResponse =
    (/** @type {unknown} */ original, /** @type {System} */ { React }) =>
    (/** @type {AnswerProps} */ props) => {
      const h = React.createElement
      return h(
        'div',
        {
          className: 'answer',
          'data-status': String(props.response.get('status'))[0],
          ref: scrollIntoView,
        },
        h(original, props),
        nextStep(h, props),
      )
    }
  return { wrapComponents: { curl, liveResponse } }
}

/**
 * Called once for each answer that appears: a long request leaves it below the screen.
 *
 * @param {HTMLElement | null} element
 */
function scrollIntoView(element) {
  element?.scrollIntoView({ block: 'nearest' })
}

/**
 * @param {Function} h
 * @param {string} text
 */
function copyable(h, text) {
  const button = h('button', { type: 'button', className: 'copy' }, 'Copy')
  return h('div', { className: 'copyable' }, h('pre', null, text), button)
}

/**
 * @param {Function} h
 * @param {{ response: Immutable, path: string, method: string }} answer
 */
function nextStep(h, { response, path, method }) {
  const id = api.paths[path]?.[method]?.operationId ?? ''
  const journey = JOURNEYS.find((steps) => steps.includes(id))
  if (journey === undefined || Number(response.get('status')) >= 300) return null
  const { status, data, key_id: keyId, secret } = JSON.parse(String(response.get('text') ?? '{}'))
  if (NOT_FINAL.includes(status ?? data?.[0]?.status) && id.startsWith('get')) {
    return h('p', { className: 'next' }, 'The bank has not answered yet: execute it again.')
  }
  const next = journey[journey.indexOf(id) + 1]
  if (next === undefined) return h('p', { className: 'next' }, 'That was the last step.')
  const onClick = () => open(next)
  const label = `Next: ${operationOf(next)?.operation.summary}`
  const button = h('p', null, h('button', { type: 'button', onClick }, label))
  return h('div', { className: 'next' }, secret && receiverCommands(h, keyId, secret), button)
}

/**
 * The guides open in a tab of their own: this page would forget the key and the secret.
 *
 * @param {Function} h
 * @param {string} keyId
 * @param {string} secret
 */
function receiverCommands(h, keyId, secret) {
  const secrets = `WEBHOOK_SECRETS='${JSON.stringify({ [keyId]: secret })}'`
  /** @param {string} href @param {string} name */
  const inNewTab = (href, name) => h('a', { href, target: '_blank', rel: 'noopener' }, name)
  const node = inNewTab('/docs/clients/node#webhooks', 'Node')
  const python = inNewTab('/docs/clients/python#webhooks', 'Python')
  return h(
    'div',
    null,
    h('p', null, 'Start a receiver, saved from the guide of ', node, ' or ', python, ':'),
    copyable(h, `${secrets} node receiver.mjs`),
    copyable(h, `${secrets} python3 receiver.py`),
  )
}

/** Opens an operation and shows it. @param {string} id */
function open(id) {
  askFor(undefined)
  const found = operationOf(id)
  const [tag = ''] = found?.operation.tags ?? []
  ui.layoutActions.show(['operations-tag', tag], true)
  ui.layoutActions.show(['operations', tag, id], true)
  const block = document.querySelector(`.opblock[id$="-${id}"]`)
  block?.scrollIntoView({ block: 'start' })
  block?.querySelector('button')?.focus({ preventScroll: true })
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

/** The maker of what a token opens. */
const TOKEN_MAKERS = {
  'session-token': 'createPaymentIntent',
  'receipt-token': 'createReceiptToken',
}

/** @typedef {{ field?: string, maker?: string }} Need an empty field, or an operation to send before */

/**
 * What an operation needs before it can be sent.
 *
 * @param {string} path
 * @param {string} method
 * @returns {Need | undefined}
 */
function needOf(path, method) {
  const found = operations.find((one) => one.path === path && one.method === method)
  if (found === undefined) return undefined
  const authentication = authenticationOf(found.operation)
  if (authentication === 'signature') {
    const field = ['key-id', 'secret'].find((id) => valueOf(id) === '')
    if (field !== undefined) return { field }
  }
  for (const [name, example] of found.ids) {
    if (parameterValue(found, name) === '') return { maker: MAKERS[kindOf(example) ?? ''] ?? '' }
  }
  const kind = made.missingIn(bodyOf(found))
  if (kind !== undefined) return { maker: MAKERS[kind] ?? '' }
  if (authentication === 'session-token' || authentication === 'receipt-token') {
    if (valueOf(authentication) === '') return { maker: TOKEN_MAKERS[authentication] }
  }
  return undefined
}

/** @param {Need | undefined} need */
function askFor(need) {
  const hint = element('missing')
  hint.hidden = need === undefined
  hint.replaceChildren()
  if (need === undefined) return
  if (need.field !== undefined) {
    const field = input(need.field)
    const label = field.labels?.[0]?.firstChild?.textContent?.trim()
    hint.textContent = `This operation needs: ${label}. Open sandbox.json, or fill it in.`
    field.focus()
    return
  }
  const { maker = '' } = need
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = operationOf(maker)?.operation.summary ?? ''
  button.addEventListener('click', () => open(maker))
  hint.replaceChildren('Nothing to use here yet. First: ', button)
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
    const entered = valueOf(authentication)
    const isSession = authentication === 'session-token'
    const token = isSession ? made.tokenFor(pathname, entered) : entered
    request.headers.Authorization = `Bearer ${token}`
  }
  return request
}

/** Takes what an answer made and renews the idempotency key. @param {UiResponse} response */
function learn(response) {
  const { pathname } = new URL(response.url, location.href)
  const answer = response.body ?? {}
  if (response.status < 300 && pathname !== '/openapi.json') {
    made.learn(answer, pathname)
    if (pathname.endsWith('/scan')) varyAmount()
    const { session_token: session, receipt_token: receipt } = answer
    if (typeof session === 'string') input('session-token').value = session
    if (typeof receipt === 'string') input('receipt-token').value = receipt
    fillIn()
  }
  if (response.status < 500) {
    const found = find('post', pathname)
    const hasKey = found?.operation.parameters?.some(({ name }) => name === IDEMPOTENCY_KEY)
    if (found !== undefined && hasKey) setParameter(found, IDEMPOTENCY_KEY, newKey())
  }
  return response
}

/** What each field was filled with last. @type {Map<string, string>} */
const filled = new Map()

/** Fills what was made into the requests that need it. */
function fillIn() {
  for (const described of operations) {
    const id = described.operation.operationId
    for (const [name, example] of described.ids) {
      const value = made.pathId(id, example)
      if (filled.get(`${id} ${name}`) === value) continue
      filled.set(`${id} ${name}`, value)
      if (made.isOurs(parameterValue(described, name))) setParameter(described, name, value)
    }
    fillBody(described)
  }
}

/** A body that the user edited keeps the edits. @param {Described} described */
function fillBody(described) {
  const { bodies, shown, operation, path, method } = described
  if (shown === undefined) return
  const id = operation.operationId
  const texts = bodies.map((body) => made.fill(id, body))
  const best = texts.find((text) => made.missingIn(text) === undefined) ?? bodies[0]
  const current = bodyOf(described)
  const isUntouched = current === shown || current === filled.get(id)
  const value = isUntouched ? best : made.fill(id, current)
  const pathMethod = [path, method]
  // Else Swagger UI drops the value when the operation is opened for the first time.
  if (!filled.has(id)) ui.oas3Actions.setRetainRequestBodyValueFlag({ value: true, pathMethod })
  filled.set(id, value)
  if (value !== current) ui.oas3Actions.setRequestBodyValue({ value, pathMethod })
}

/** @param {Described} described @returns {string} */
function bodyOf({ path, method, shown }) {
  return ui.oas3Selectors.requestBodyValue(path, method) ?? shown ?? ''
}

/**
 * @param {Described} described
 * @param {string} name
 */
function parameterOf({ path, method }, name) {
  /** @type {Iterable<Immutable>} */
  const parameters = ui.specSelectors.specJson().getIn(['paths', path, method, 'parameters'])
  return [...parameters].find((parameter) => parameter.get('name') === name)
}

/**
 * @param {Described} described
 * @param {string} name
 * @returns {string}
 */
function parameterValue(described, name) {
  const pathMethod = [described.path, described.method]
  const parameter = parameterOf(described, name)
  const stored = ui.specSelectors.parameterWithMetaByIdentity(pathMethod, parameter)
  return stored?.get('value') ?? ''
}

/**
 * @param {Described} described
 * @param {string} name
 * @param {string} value
 */
function setParameter(described, name, value) {
  const pathMethod = [described.path, described.method]
  ui.specActions.changeParamByIdentity(pathMethod, parameterOf(described, name), value, false)
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
    keyId: signatureKeyId?.name ?? '',
    timestamp: signatureTimestamp?.name ?? '',
    nonce: signatureNonce?.name ?? '',
    signature: signature?.name ?? '',
  }
}
