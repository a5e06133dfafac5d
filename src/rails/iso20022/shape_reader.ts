/**
 * Reads an element by its shape, and checks order, number, types and bounds of its parts.
 *
 * - A fault names the element, never its value: a value can be an account or a name.
 */
import { currencyOf, exponentOf } from '../../money/currency.js'
import {
  isRepeated,
  isRequired,
  type Amount,
  type GroupShape,
  type Shape,
  type ValueOf,
} from './shape.js'
import { checkedText } from './shape_writer.js'
import { MessageFault, type XmlElement } from './xml.js'

const NAME_OF_STANDARD = /^[A-Z][A-Za-z0-9]*$/
const INT64_MAX = 2n ** 63n - 1n

/** @throws MessageFault */
export const readElement = <S extends Shape>(element: XmlElement, shape: S): ValueOf<S> =>
  valueOf(element, shape) as ValueOf<S>

function valueOf(element: XmlElement, shape: Shape): unknown {
  const { name, children, attributes } = element
  if (shape.kind !== 'amount' && Object.keys(attributes).length > 0) {
    throw new MessageFault(`${name} has attributes`)
  }
  switch (shape.kind) {
    case 'text':
      requireLeaf(element)
      return checkedText(name, shape, element.text)
    case 'amount':
      return amountOf(element)
    case 'group':
      return groupOf(element, shape)
    case 'choice': {
      const [chosen, ...others] = children
      if (chosen === undefined || others.length > 0) throw new MessageFault(`${name} is a choice`)
      const part = partIn(shape.parts, chosen.name)
      if (part === undefined) return requireOfStandard(chosen, {})
      return { [chosen.name]: valueOf(chosen, part.shape) }
    }
  }
}

const partIn = (parts: GroupShape['parts'], name: string) =>
  Object.hasOwn(parts, name) ? parts[name] : undefined

/** Elements that we do not describe can be anywhere. */
function groupOf(element: XmlElement, { parts }: GroupShape): Record<string, unknown> {
  requireNoText(element)
  const order = Object.keys(parts)
  const found = new Map<string, unknown[]>()
  let last = 0
  for (const child of element.children) {
    const part = partIn(parts, child.name)
    if (part === undefined) {
      requireOfStandard(child, undefined)
      continue
    }
    const index = order.indexOf(child.name)
    if (index < last) throw new MessageFault(`${child.name} is out of order`)
    last = index
    const values = found.get(child.name) ?? []
    values.push(valueOf(child, part.shape))
    found.set(child.name, values)
  }
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, { number }]): [string, unknown][] => {
      const values = found.get(name) ?? []
      if (isRequired(number) && values.length === 0) throw new MessageFault(`${name} is missing`)
      if (isRepeated(number)) return [[name, values]]
      if (values.length > 1) throw new MessageFault(`${name} is repeated`)
      return values.map((value) => [name, value])
    }),
  )
}

function requireOfStandard<Value>({ name }: XmlElement, value: Value): Value {
  if (!NAME_OF_STANDARD.test(name)) throw new MessageFault('an element has no name of the standard')
  return value
}

function requireLeaf({ name, children }: XmlElement): void {
  if (children.length > 0) throw new MessageFault(`${name} has elements`)
}

function requireNoText({ name, text }: XmlElement): void {
  if (text.trim() !== '') throw new MessageFault(`${name} has text`)
}

/** `Ccy` and a decimal. Digits beyond those of the currency are zeros, as some banks write. */
function amountOf(element: XmlElement): Amount {
  const { name, attributes, text } = element
  requireLeaf(element)
  const { Ccy = '', ...others } = attributes
  const currency = currencyOf(Ccy)
  if (currency === undefined || Object.keys(others).length > 0) {
    throw new MessageFault(`${name} has no currency`)
  }
  const [, whole, fraction = ''] = /^([0-9]{1,18})(?:\.([0-9]{1,5}))?$/.exec(text) ?? []
  const exponent = exponentOf(currency)
  if (whole === undefined || !/^0*$/.test(fraction.slice(exponent))) {
    throw new MessageFault(`${name} is no amount of its currency`)
  }
  const minor = BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  if (minor > INT64_MAX) throw new MessageFault(`${name} is too large`)
  return { minor, currency }
}
