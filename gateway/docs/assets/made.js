/**
 * What the requests of this page made: their ids, quotes and session tokens replace those of the
 * examples in the requests that follow.
 *
 * - The newest one in a status that the operation accepts is used.
 * - An id that the user typed is left alone.
 *
 * @typedef {object} Entity
 * @property {string} kind the prefix of its id
 * @property {string} [status]
 * @property {{ id: string, version: number }} [quote] of an intent
 * @property {string} [sessionToken] of an intent
 */

const ID = /\b(pi|qt|pout|ben|we|evt|fxq)_[0-9A-HJKMNP-TV-Z]{26}\b/g

/** Which operation makes the first one of a kind. @type {Readonly<Record<string, string>>} */
export const MAKERS = {
  pi: 'createPaymentIntent',
  qt: 'scanQrCode',
  pout: 'createPayout',
  ben: 'createBeneficiary',
  we: 'createWebhookEndpoint',
  evt: 'testWebhookEndpoint',
  fxq: 'createFxQuote',
}

/** Operations that accept only these statuses. @type {Readonly<Record<string, string[]>>} */
const ACCEPTED = {
  createSessionToken: ['created'],
  scanQrCode: ['created'],
  confirmPaymentIntent: ['created'],
  cancelPaymentIntent: ['created'],
  refundPaymentIntent: ['authorized', 'captured'],
  createReceiptToken: ['authorized', 'captured', 'refunded'],
  getReceipt: ['authorized', 'captured', 'refunded'],
  simulatePayout: ['processing', 'completed'],
  testWebhookEndpoint: ['enabled'],
}

/** Every other operation accepts all but these. */
const ENDED = ['disabled', 'deleted']
/** A disabled endpoint can still be changed, read and enabled. */
const USABLE_WHEN_DISABLED = 'we'

/** @param {string} examples all requests of the document, as text */
export function createMade(examples) {
  const shown = new Set(examples.match(ID))
  /** @type {Map<string, Entity>} */
  const entities = new Map()
  /** @type {Set<string>} */
  const quotes = new Set()

  /** @param {string} id */
  const isOurs = (id) => shown.has(id) || entities.has(id) || quotes.has(id)

  /**
   * @param {string} operationId
   * @param {Entity} entity
   */
  const accepts = (operationId, { kind, status = '' }) => {
    const accepted = ACCEPTED[operationId]
    if (accepted !== undefined) return accepted.includes(status)
    return status === 'disabled' && kind === USABLE_WHEN_DISABLED ? true : !ENDED.includes(status)
  }

  /**
   * @param {string} kind
   * @param {string} operationId
   */
  const newest = (kind, operationId) =>
    [...entities]
      .reverse()
      .find(([, entity]) => entity.kind === kind && accepts(operationId, entity))

  /**
   * @param {string} kind
   * @param {string} operationId
   */
  const idFor = (kind, operationId) =>
    kind === 'qt' ? newest('pi', operationId)?.[1].quote?.id : newest(kind, operationId)?.[0]

  /** @param {Record<string, any>} view an entity as in an answer, or one that it contains */
  const keep = (view) => {
    const id = view.intent_id ?? view.id
    const kind = kindOf(id)
    if (kind === undefined) return
    const entity = entities.get(id) ?? { kind }
    entities.set(id, entity)
    if (typeof view.status === 'string') entity.status = view.status
    if (view.session_token !== undefined) entity.sessionToken = view.session_token
    if (view.quote?.quote_id === undefined) return
    entity.quote = { id: view.quote.quote_id, version: view.quote.quote_version }
    quotes.add(entity.quote.id)
  }

  return {
    /**
     * Of a list the newest item counts, unless there is one of its kind already.
     *
     * @param {Record<string, any>} answer
     * @param {string} path of the request: an answer with a token may not name its intent
     */
    learn(answer, path) {
      const [item] = Array.isArray(answer.data) ? answer.data : []
      if (item === undefined) {
        const [inPath] = path.match(ID) ?? []
        keep(answer.session_token === undefined ? answer : { intent_id: inPath, ...answer })
        if (answer.event !== undefined) keep(answer.event)
        return
      }
      const view = item.event ?? item
      const kind = kindOf(view.intent_id ?? view.id)
      if (![...entities.values()].some((entity) => entity.kind === kind)) keep(view)
    },

    /**
     * The id that an operation's path gets in place of the example's; empty when there is none.
     *
     * @param {string} operationId
     * @param {string} example
     */
    pathId: (operationId, example) => idFor(kindOf(example) ?? '', operationId) ?? '',

    /**
     * A body with what was made in place of what its example or an earlier answer had.
     *
     * @param {string} operationId
     * @param {string} body
     */
    fill(operationId, body) {
      const filled = body.replace(ID, (id, kind) =>
        isOurs(id) ? (idFor(kind, operationId) ?? id) : id,
      )
      const quote = newest('pi', operationId)?.[1].quote
      if (quote === undefined || !filled.includes(quote.id)) return filled
      return filled.replace(/("quote_version":\s*)\d+/, `$1${quote.version}`)
    },

    /** The kind of an id that only the example has. @param {string} body */
    missingIn: (body) => kindOf(body.match(ID)?.find((id) => shown.has(id)) ?? ''),

    /** Whether a field has a value that this page put there. @param {string} value */
    isOurs: (value) => value === '' || isOurs(value),

    /**
     * The token of the intent in a path, unless the user entered another one.
     *
     * @param {string} path
     * @param {string} entered
     */
    tokenFor(path, entered) {
      const tokens = [...entities.values()].map(({ sessionToken }) => sessionToken)
      if (entered !== '' && !tokens.includes(entered)) return entered
      const [id = ''] = path.match(ID) ?? []
      return entities.get(id)?.sessionToken ?? entered
    },
  }
}

/** @param {unknown} id */
export function kindOf(id) {
  if (typeof id !== 'string' || id.match(ID)?.[0] !== id) return undefined
  return id.slice(0, id.indexOf('_'))
}
