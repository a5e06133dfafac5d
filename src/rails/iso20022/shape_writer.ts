/**
 * Writes a value as XML by its shape.
 *
 * - What is written has been checked: a value that its shape does not allow is a MessageFault.
 * - Elements come in the order of the shape, whatever the order of the members.
 */
import { currencyOf, exponentOf } from '../../money/currency.js'
import { isRepeated, isRequired, type Amount, type Shape, type TextShape } from './shape.js'
import { escaped, isXmlText, MessageFault } from './xml.js'

/** The standard has no amount with more digits before its point. */
const WHOLE_DIGITS_MAX = 18

type Members = Readonly<Record<string, unknown>>

/** @param attributes of the element itself */
export function writeElement(name: string, shape: Shape, value: unknown, attributes = ''): string {
  const [own, content] = contentOf(name, shape, value)
  return `<${name}${attributes}${own}>${content}</${name}>`
}

function contentOf(name: string, shape: Shape, value: unknown): readonly [string, string] {
  switch (shape.kind) {
    case 'text':
      return ['', escaped(checkedText(name, shape, String(value)))]
    case 'amount':
      return amountContent(name, value as Amount)
    case 'group':
    case 'choice':
      return ['', partsOf(name, shape, value as Members)]
  }
}

export function checkedText(name: string, { max, pattern }: TextShape, given: string): string {
  if ([...given].length > max) throw new MessageFault(`${name} is too long`)
  if (!isXmlText(given)) throw new MessageFault(`${name} has a character that XML has not`)
  if (!pattern.test(given)) throw new MessageFault(`${name} has another form`)
  return given
}

function amountContent(name: string, { minor, currency }: Amount): readonly [string, string] {
  const known = currencyOf(currency)
  if (known === undefined || minor < 0n) throw new MessageFault(`${name} is no amount`)
  const exponent = exponentOf(known)
  const digits = minor.toString().padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  if (whole.length > WHOLE_DIGITS_MAX) throw new MessageFault(`${name} is too large`)
  const fraction = exponent === 0 ? '' : `.${digits.slice(-exponent)}`
  return [` Ccy="${currency}"`, whole + fraction]
}

function partsOf(name: string, shape: Extract<Shape, { parts: unknown }>, value: Members): string {
  const given = Object.keys(value).filter((part) => value[part] !== undefined)
  const unknown = given.find((part) => !(part in shape.parts))
  if (unknown !== undefined) throw new MessageFault(`${name} has no part ${unknown}`)
  if (shape.kind === 'choice' && given.length !== 1) throw new MessageFault(`${name} is a choice`)
  return Object.entries(shape.parts)
    .filter(([part]) => shape.kind === 'group' || value[part] !== undefined)
    .map(([part, { shape: its, number }]) => {
      const values = isRepeated(number) ? (value[part] as unknown[]) : [value[part]]
      const present = values.filter((each) => each !== undefined)
      if (isRequired(number) && present.length === 0) throw new MessageFault(`${part} is missing`)
      return present.map((each) => writeElement(part, its, each)).join('')
    })
    .join('')
}
