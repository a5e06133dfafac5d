/**
 * XML as ISO 20022 uses it: reading a bounded document into elements, and escaping text.
 *
 * Does not own: which elements a message has (shape, messages).
 *
 * - Bytes, tags, attributes, depth and the length of a tag are bounded; all but the depth before
 *   the parser runs.
 * - No document type, comment, CDATA section or processing instruction: messages have none, and
 *   entities need the first. Only the five entities of XML and single characters are decoded.
 * - Every value is text. UTF-8 only.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser'

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** Empty when the element has children. */
  readonly text: string
}

export interface XmlBounds {
  readonly bytes: number
  readonly elements: number
}

/** The message is malformed or breaks a bound. The text has no value of the message. */
export class MessageFault extends Error {
  override name = 'MessageFault'
}

const DEPTH_MAX = 32
const ATTRIBUTES_MAX = 8
const TAG_LENGTH_MAX = 1_024
/** Start and end tag. */
const TAGS_PER_ELEMENT = 2
/** Some libraries write single quotes. */
const quoted = (value: string): string => `(?:"${value}"|'${value}')`
const DECLARATION = new RegExp(
  `^<\\?xml version=${quoted('1\\.0')}(?: encoding=${quoted('UTF-8')})?` +
    `(?: standalone=${quoted('(?:yes|no)')})? ?\\?>`,
  'i',
)
const FORBIDDEN_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u
const TOO_LONG_TAG = new RegExp(`<[^>]{${TAG_LENGTH_MAX}}`)
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/

const utf8 = new TextDecoder('utf-8', { fatal: true })
const parser = new XMLParser({
  ...{ preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: '' },
  ...{ parseTagValue: false, parseAttributeValue: false, trimValues: false },
  ...{ processEntities: false, maxNestedTags: DEPTH_MAX, jPath: false },
})

/** The root of a document. @throws MessageFault */
export function readXml(bytes: Uint8Array, bounds: XmlBounds): XmlElement {
  if (bytes.length > bounds.bytes) throw new MessageFault('the message is too large')
  const text = decoded(bytes).replace(DECLARATION, '')
  requireBounded(text, bounds)
  const [root, ...others] = elementsIn(parsed(text), 1)
  if (root === undefined || others.length > 0) throw new MessageFault('the message has no one root')
  return root
}

function decoded(bytes: Uint8Array): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new MessageFault('the message is not UTF-8')
  }
  if (FORBIDDEN_CHARACTER.test(text)) throw new MessageFault('a character is not one of XML')
  return text
}

function requireBounded(text: string, bounds: XmlBounds): void {
  if (!/^\s*<.*>\s*$/s.test(text)) throw new MessageFault('text beside the root')
  if (/<[!?]/.test(text)) {
    throw new MessageFault('a document type, comment, CDATA or instruction is not allowed')
  }
  const tags = countOf(text, '<')
  if (tags > bounds.elements * TAGS_PER_ELEMENT) throw new MessageFault('too many elements')
  if (countOf(text, '=') > tags * ATTRIBUTES_MAX) throw new MessageFault('too many attributes')
  if (TOO_LONG_TAG.test(text)) throw new MessageFault('a tag is too long')
}

function countOf(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++
  return count
}

function parsed(text: string): unknown {
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new MessageFault(`not well-formed: ${valid.err.code}`)
  try {
    return parser.parse(text)
  } catch {
    throw new MessageFault('not well-formed, or nested too deeply')
  }
}

const TEXT = '#text'
const ATTRIBUTES = ':@'
type Node = Readonly<Record<string, unknown>>

/** The elements of one level; text beside elements is refused. */
function elementsIn(nodes: unknown, depth: number): XmlElement[] {
  if (!Array.isArray(nodes)) throw new MessageFault('not well-formed')
  if (depth > DEPTH_MAX) throw new MessageFault('nested too deeply')
  const elements = (nodes as Node[]).filter((node) => !(TEXT in node))
  if (elements.length < nodes.length && textIn(nodes as Node[]).trim() !== '') {
    throw new MessageFault('text beside elements')
  }
  return elements.map((node) => elementOf(node, depth))
}

function elementOf(node: Node, depth: number): XmlElement {
  const name = Object.keys(node).find((key) => key !== ATTRIBUTES) ?? ''
  if (!NAME.test(name)) throw new MessageFault('an element has no valid name')
  const nodes = node[name] as Node[]
  const isLeaf = nodes.every((child) => TEXT in child)
  return {
    name,
    attributes: attributesOf(node[ATTRIBUTES]),
    children: isLeaf ? [] : elementsIn(nodes, depth + 1),
    text: isLeaf ? unescaped(textIn(nodes)) : '',
  }
}

const textIn = (nodes: readonly Node[]): string =>
  nodes.map((node) => (TEXT in node ? String(node[TEXT]) : '')).join('')

function attributesOf(given: unknown): Readonly<Record<string, string>> {
  const found = Object.entries((given ?? {}) as Record<string, string>)
  if (found.length > ATTRIBUTES_MAX) throw new MessageFault('too many attributes')
  return Object.fromEntries(found.map(([name, value]) => [name, unescaped(String(value))]))
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
}
const REFERENCE = /&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z]{1,8});|&/g

function unescaped(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(REFERENCE, (_, reference: string | undefined) => {
    const character = reference?.startsWith('#')
      ? characterOf(reference.slice(1))
      : ENTITIES[reference ?? '']
    if (character === undefined) throw new MessageFault('an entity is not one of XML')
    return character
  })
}

function characterOf(reference: string): string | undefined {
  const code = reference.startsWith('x') ? parseInt(reference.slice(1), 16) : Number(reference)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined
  const character = String.fromCodePoint(code)
  return FORBIDDEN_CHARACTER.test(character) ? undefined : character
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
}

/** Not every text is, e.g. one with U+FFFE. */
export const isXmlText = (text: string): boolean => !FORBIDDEN_CHARACTER.test(text)

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
