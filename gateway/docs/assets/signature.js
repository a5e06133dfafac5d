/**
 * Signs a request with WebCrypto, which only secure contexts have.
 *
 * @typedef {{ keyId: string, timestamp: string, nonce: string, signature: string }} HeaderNames
 * @typedef {{ method: string, path: string, body: string }} SignedRequest
 */

const text = new TextEncoder()

/**
 * The signature headers of one attempt: the timestamp and the nonce are fresh.
 *
 * @param {HeaderNames} names
 * @param {{ keyId: string, secret: string }} key
 * @param {SignedRequest} request the path without its query, the body as sent
 * @returns {Promise<Record<string, string>>}
 */
export async function signatureHeaders(names, { keyId, secret }, request) {
  const timestamp = new Date().toISOString()
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)))
  return {
    [names.keyId]: keyId,
    [names.timestamp]: timestamp,
    [names.nonce]: nonce,
    [names.signature]: await signatureOf(secret, { ...request, timestamp, nonce }),
  }
}

/**
 * @param {string} secret
 * @param {SignedRequest & { timestamp: string, nonce: string }} request
 * @returns {Promise<string>} base64
 */
export async function signatureOf(secret, { method, path, timestamp, nonce, body }) {
  const hash =
    body === '' ? '' : hex(new Uint8Array(await crypto.subtle.digest('SHA-256', text.encode(body))))
  const canonical = [method, path, timestamp, nonce, hash, ''].join('\n')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', text.encode(secret), algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, text.encode(canonical))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

/** @param {Uint8Array} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
