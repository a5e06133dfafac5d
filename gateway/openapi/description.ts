/** The introduction of the document, in Markdown. The guide is gateway/guide. */
export const DESCRIPTION = `
Your backend signs its requests; your app presents tokens that your backend obtained. Outcomes
arrive as signed webhooks.

## Requests

- Bodies are JSON in UTF-8. Unknown members, duplicate members, \`null\` and numbers that are not
  plain integers are a 400.
- Lengths count Unicode code points. Timestamps that you send are RFC 3339 from 1970 on, with an
  offset and up to nine digits of a fraction, without leap seconds; the seconds can be left out.
- Operations without a body accept none or \`{}\`.
- The host name selects sandbox or production; a key works only on hosts of its own environment.

## Signing

A request from your backend carries \`X-Service-Key-Id\`, \`X-Service-Timestamp\`,
\`X-Service-Nonce\` and \`X-Service-Signature\`. The signature is base64 of HMAC-SHA256 over five
lines, each of which ends with a newline:

1. the method
2. the path without its query
3. the timestamp, exactly as in its header
4. the nonce, exactly as in its header
5. the SHA-256 of the body as sent in lower-case hex, or an empty line without a body

In the sandbox \`POST /v1/sandbox/signature/check\` reports which check of a signature fails.

## Retries

After a 500, 503, 504 or no answer the outcome is unknown. Repeat the request with the same body,
the same \`Idempotency-Key\`, and a fresh timestamp, nonce and signature, after \`Retry-After\` if
there is one.

## Errors

Every answer of 400 and above has the same envelope; branch on \`code\`. An unknown path is 404
\`not_found\`, and a wrong method 405 \`method_not_allowed\` with the header \`Allow\`.

## Compatibility

New operations, optional members, event types and codes can be added. Ignore members and event
types that you do not use.
`.trim()
