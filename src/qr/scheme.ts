/**
 * The interface between the QR reader and a scheme, e.g. promptpay.
 */
import type { QrScheme } from './corridor.js'
import type { Step } from './reasons.js'
import type { Objects } from './tlv.js'

/** The payee. Members that a scheme does not use are empty. */
export interface Destination {
  readonly scheme: QrScheme
  /** One of those that rail.proto lists for the scheme. */
  readonly accountType: string
  readonly bankCode: string
  /** In the rail's format. */
  readonly account: string
  readonly reference1: string
  readonly reference2: string
}

/** A root object 26 to 51, identified by the globally unique id in its sub-object 00. */
export interface Template {
  readonly tag: string
  readonly guid: string
  readonly text: string
}

export interface Scheme {
  /** The scheme's ids, payable or not. */
  readonly guids: ReadonlySet<string>
  /** The root tags in which the scheme names a destination; its ids in other tags are ignored. */
  readonly tags: ReadonlySet<string>
  /** The destination of a template with one of the ids in one of the tags. */
  destinationOf(template: Template): Step<Destination>
  /** Adds the references that the code carries outside the template. */
  withReferences(destination: Destination, additionalData: Objects): Destination
}
