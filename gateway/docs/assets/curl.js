/**
 * A request as a command for a shell, which signs it by itself: each run has its own timestamp,
 * nonce and signature, from the secret in the variable SIGNING_SECRET. It needs curl and openssl.
 *
 * @typedef {import('./signature.js').HeaderNames} HeaderNames
 * @typedef {object} SentRequest
 * @property {string} method
 * @property {string} url
 * @property {Record<string, string>} headers
 * @property {string} [body]
 */

/** Headers that the browser sets or that say nothing to this API. */
const OMITTED = ['accept', 'content-type']

/**
 * @param {SentRequest} request as the page sent it
 * @param {HeaderNames} names
 */
export function curlCommand({ method, url, headers, body = '' }, names) {
  const signing = Object.values(names).map((name) => name.toLowerCase())
  const keyId = headers[names.keyId]
  const others = Object.entries(headers).filter(
    ([name]) => !OMITTED.includes(name.toLowerCase()) && !signing.includes(name.toLowerCase()),
  )
  const verb = method.toUpperCase()
  const path = new URL(url).pathname
  const signed = keyId === undefined ? [] : signedHeaders(names, keyId)
  return [
    ...(body === '' ? [] : [`body=${quoted(body)} && \\`]),
    ...(keyId === undefined ? [] : signature(verb, path, body !== '')),
    [
      `curl -sS -X ${verb} ${quoted(url)}`,
      ...signed,
      ...others.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(body === '' ? [] : [`-H 'Content-Type: application/json'`, '--data-binary "$body"']),
    ].join(' \\\n  '),
  ].join('\n')
}

/**
 * @param {string} method
 * @param {string} path
 * @param {boolean} hasBody
 */
const signature = (method, path, hasBody) => [
  'timestamp=$(date -u +%Y-%m-%dT%H:%M:%SZ) && nonce=$(openssl rand -hex 32) && \\',
  `hash=${hasBody ? '$(printf %s "$body" | openssl dgst -sha256 -r | cut -c1-64)' : ''} && \\`,
  `signature=$(printf '%s\\n' ${method} ${quoted(path)} "$timestamp" "$nonce" "$hash" |`,
  '  openssl dgst -sha256 -hmac "$SIGNING_SECRET" -binary | openssl base64 -A) && \\',
]

/**
 * @param {HeaderNames} names
 * @param {string} keyId
 */
const signedHeaders = (names, keyId) => [
  `-H ${quoted(`${names.keyId}: ${keyId}`)}`,
  `-H "${names.timestamp}: $timestamp" -H "${names.nonce}: $nonce"`,
  `-H "${names.signature}: $signature"`,
]

/** One word of a POSIX shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
