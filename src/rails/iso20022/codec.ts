/**
 * Messages as bytes: an application header and a document within one root element.
 *
 * Does not own: the parts of a message (messages), what a message means (outcome).
 *
 * - The same message gives the same bytes.
 * - Header and document must name the same message, and each its own namespace.
 */
import {
  APPLICATION_HEADER,
  MESSAGES,
  namespaceOf,
  type Message,
  type MessageName,
} from './messages.js'
import { readElement } from './shape_reader.js'
import { writeElement } from './shape_writer.js'
import { MessageFault, readXml, type XmlBounds, type XmlElement } from './xml.js'

/** The standard leaves the common root of header and document to the network. */
const ROOT = 'Message'
const DOCUMENT = 'Document'
const XMLNS = 'xmlns'
/** Tools add them; nothing here follows them. */
const OF_SCHEMA_TOOLS = ['xmlns:xsi', 'xsi:schemaLocation']

/** A payment, its status or its recall. */
export const MESSAGE_BOUNDS: XmlBounds = { bytes: 65_536, elements: 1_000 }
/** With statements. */
export const STATEMENT_BOUNDS: XmlBounds = { bytes: 4 * 1_048_576, elements: 100_000 }

/** @throws MessageFault when a part is not as the standard has it */
export function writeMessage({ name, body, from, to, id, createdAt }: Message): Buffer {
  const { namespace, shape, name: header } = APPLICATION_HEADER
  const agent = (member: string) => ({ FIId: { FinInstnId: { ClrSysMmbId: { MmbId: member } } } })
  const head = writeElement(
    header,
    shape,
    { Fr: agent(from), To: agent(to), BizMsgIdr: id, MsgDefIdr: name, CreDt: createdAt },
    ` ${XMLNS}="${namespace}"`,
  )
  const described = MESSAGES[name]
  const content = writeElement(described.root, described.shape, body)
  const document = `<${DOCUMENT} ${XMLNS}="${namespaceOf(name)}">${content}</${DOCUMENT}>`
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${ROOT}>${head}${document}</${ROOT}>`,
  )
}

/** @throws MessageFault when it is not a message that we know */
export function readMessage(bytes: Uint8Array, bounds: XmlBounds): Message {
  const root = readXml(bytes, bounds)
  const [header, document, ...others] = root.children
  if (root.name !== ROOT || Object.keys(root.attributes).length > 0 || others.length > 0) {
    throw new MessageFault(`the root is not ${ROOT} with a header and a document`)
  }
  const head = readElement(
    within(header, APPLICATION_HEADER.name, APPLICATION_HEADER.namespace),
    APPLICATION_HEADER.shape,
  )
  const name = nameIn(head.MsgDefIdr)
  const [content, ...more] = within(document, DOCUMENT, namespaceOf(name)).children
  const { root: wanted, shape } = MESSAGES[name]
  if (content === undefined || content.name !== wanted || more.length > 0) {
    throw new MessageFault(`the document is not ${wanted}`)
  }
  return {
    ...{ name, from: memberOf(head.Fr), to: memberOf(head.To) },
    ...{ id: head.BizMsgIdr, createdAt: head.CreDt },
    body: readElement(content, shape),
  } as Message
}

/** The id of a message definition of the standard, which is no value of a payment. */
const DEFINITION = /^[a-z]{4}\.\d{3}\.\d{3}\.\d\d$/

function nameIn(given: string): MessageName {
  const name = Object.keys(MESSAGES).find((known) => known === given)
  if (name === undefined) {
    const shown = DEFINITION.test(given) ? `: ${given}` : ''
    throw new MessageFault(`the message is none that we know${shown}`)
  }
  return name as MessageName
}

interface Member {
  readonly FIId?: { readonly FinInstnId: { readonly ClrSysMmbId?: { readonly MmbId: string } } }
}

function memberOf({ FIId }: Member): string {
  const member = FIId?.FinInstnId.ClrSysMmbId?.MmbId
  if (member === undefined) throw new MessageFault('the header names no member')
  return member
}

/** The element without its namespace. */
function within(element: XmlElement | undefined, name: string, namespace: string): XmlElement {
  const { [XMLNS]: found, ...attributes } = element?.attributes ?? {}
  if (element?.name !== name) throw new MessageFault(`${name} is missing`)
  if (found !== namespace) throw new MessageFault(`${name} has another namespace`)
  const unknown = Object.keys(attributes).find((each) => !OF_SCHEMA_TOOLS.includes(each))
  if (unknown !== undefined) throw new MessageFault(`${name} has other attributes`)
  return { ...element, attributes: {} }
}
