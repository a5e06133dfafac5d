/** Security schemes, and which of them each kind of authentication needs. */
import type { Schema } from '../../src/api/schema.js'
import type { AnyRoute } from '../routing/route.js'

const header = (name: string, description: string): Schema => ({
  type: 'apiKey',
  in: 'header',
  name: `X-Service-${name}`,
  description,
})

export const SECURITY_SCHEMES: Readonly<Record<string, Schema>> = {
  signatureKeyId: header('Key-Id', 'Your key id, `{partner}_{sandbox or production}_{quarter}`.'),
  signatureTimestamp: header(
    'Timestamp',
    'Now: RFC 3339 in UTC with seconds and up to 9 fraction digits; at most 5 minutes off.',
  ),
  signatureNonce: header(
    'Nonce',
    '32 fresh random bytes as 64 lower-case hex digits. A nonce works once, also when the answer ' +
      'is an error.',
  ),
  signature: header(
    'Signature',
    'Base64 of HMAC-SHA256, keyed with the UTF-8 text of your signing secret, over five lines, ' +
      'each of which ends with a newline: method; path without its query; timestamp and nonce as ' +
      'in their headers; SHA-256 of the body as sent in lower-case hex, or an empty line without ' +
      'a body.',
  ),
  sessionToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The session token of the intent in the path. For your app.',
  },
  receiptToken: {
    type: 'http',
    scheme: 'bearer',
    description: "A receipt token of the intent's user. For your app.",
  },
}

/** All four headers together. */
export const SIGNED: Schema = {
  signatureKeyId: [],
  signatureTimestamp: [],
  signatureNonce: [],
  signature: [],
}

export const SECURITY: Readonly<Record<AnyRoute['auth'], readonly Schema[]>> = {
  hmac: [SIGNED],
  session: [{ sessionToken: [] }],
  hmac_or_session: [SIGNED, { sessionToken: [] }],
  receipt: [{ receiptToken: [] }],
  none: [],
}
