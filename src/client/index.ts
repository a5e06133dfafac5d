/** Public exports of the partner API client. */
export { createClient, type Client, type ClientOptions, type Keyed } from './client.js'
export {
  connect,
  type BearerConnection,
  type Connection,
  type Credentials,
  type RequestOptions,
} from './connection.js'
export * from './errors.js'
export type { HttpAnswer } from './http.js'
export { RETRY, type RetryOptions } from './retry.js'
export { canonicalRequest, signatureOf, signRequest, type SignedRequest } from './signing.js'
export type * from './types.js'
export * from './webhooks.js'
