/**
 * What a QR scheme tells the reader, and what the reader learns from it.
 *
 * Owns: the words shared by the schemes. Does not own: their tables (promptpay, vietqr).
 */
import type { Step } from './reasons.js'
import type { Objects } from './tlv.js'

/** Who is to be paid. Members that a scheme has no use for are empty. */
export interface Destination {
  readonly scheme: 'promptpay' | 'vietqr'
  /**
   * promptpay: mobile, national_id, ewallet, bank_account, biller; vietqr: account, card, merchant.
   */
  readonly accountType: string
  readonly bankCode: string
  /** In the form that the rail needs. */
  readonly account: string
  readonly reference1: string
  readonly reference2: string
}

/** An object 26 to 51 of the root, known by the globally unique id in its sub-object 00. */
export interface Template {
  readonly tag: string
  readonly guid: string
  readonly text: string
}

export interface Scheme {
  /** Ids that belong to the scheme, payable or not. */
  readonly guids: ReadonlySet<string>
  /** The root tags in which the scheme names a destination; its ids elsewhere are only remarks. */
  readonly tags: ReadonlySet<string>
  /** The destination of a template with one of the ids in one of the tags. */
  destinationOf(template: Template): Step<Destination>
  /** The destination with the references that the code carries beside the template. */
  withReferences(destination: Destination, additionalData: Objects): Destination
}
