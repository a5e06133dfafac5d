/** Public exports of the partner API client. */
export { createAppClient, type AppClient, type Session } from './app.js'
export type { Keyed } from './calls.js'
export { createClient, type Client } from './client.js'
export {
  connect,
  connectApp,
  type AppConnection,
  type BearerConnection,
  type Connection,
  type Credentials,
  type RequestOptions,
  type Server,
} from './connection.js'
export * from './errors.js'
export type { HttpAnswer } from './http.js'
export type { List, Page } from './pagination.js'
export type { PollOptions } from './poll.js'
export type { Attempt, CallOptions, ClientOptions } from './request.js'
export { responseOf, type ResponseDetails } from './response_details.js'
export { RETRY, type RetryOptions } from './retry.js'
export { canonicalRequest, signatureOf, signRequest, type SignedRequest } from './signing.js'
export type * from './types.js'
export { VERSION } from './version.js'
export { signTestWebhook, type TestEvent, type TestWebhookOptions } from './webhook_signing.js'
export * from './webhooks.js'
