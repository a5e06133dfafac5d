/**
 * The form of single members on the wire, the same in both directions.
 *
 * Owns: their bounds and shapes. Does not own: which member a message needs (instruction_reader,
 * report_reader).
 */
import type { EffectId, Environment } from '../base/ids.js'
import { isIdOf } from '../base/ids.js'

const INT64_MAX = 2n ** 63n - 1n
const AMOUNT = /^[1-9][0-9]{0,18}$/
const CURRENCY = /^[A-Z]{3}$/
/** Given by a machine: printable ASCII without spaces. */
const NAME = /^[\x21-\x7e]{1,128}$/
/** Given by people: anything but control characters and halves of surrogate pairs. */
const TEXT = /^[^\p{Cc}\p{Cs}]*$/u
const TEXT_MAX = 1_024

/** Instructions carry the id of what they pay for. */
export const isEffectId = (text: string): text is EffectId =>
  isIdOf('payout', text) || isIdOf('intent', text)

/** Undefined when it is neither; instructions from before it was said count as the sandbox's. */
export function readEnvironment(text: string): Environment | undefined {
  if (text === '') return 'sandbox'
  return text === 'sandbox' || text === 'production' ? text : undefined
}

/** A positive int64, or undefined. */
export function readAmount(text: string): bigint | undefined {
  if (!AMOUNT.test(text)) return undefined
  const amount = BigInt(text)
  return amount <= INT64_MAX ? amount : undefined
}

export const isCurrency = (text: string): boolean => CURRENCY.test(text)
export const isName = (text: string): boolean => NAME.test(text)
export const isText = (text: string): boolean => text.length <= TEXT_MAX && TEXT.test(text)
