/** The digest of an archived payment, by which books and archive know that they mean the same. */
import { createHash } from 'node:crypto'

/** @param context its JSON, as JSON.stringify writes it */
export const digestOfPayment = (id: string, state: string, context: string): string =>
  createHash('sha256').update(`${id}\n${state}\n${context}`).digest('base64url')
