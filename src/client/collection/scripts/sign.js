// Signs the request, unless it has a token. The signed bytes are the sent bytes.
function signedHeaders({ method, url, body, keyId, secret, timestamp, nonce }) {
  const path = url.replace(/^[a-z]+:\/\/[^/]+/i, '').split('?')[0]
  const hash = body === '' ? '' : cryptoJs.SHA256(body).toString(cryptoJs.enc.Hex)
  const canonical = [method, path, timestamp, nonce, hash, ''].join('\n')
  const signature = cryptoJs.HmacSHA256(canonical, secret).toString(cryptoJs.enc.Base64)
  return {
    'X-Service-Key-Id': keyId,
    'X-Service-Timestamp': timestamp,
    'X-Service-Nonce': nonce,
    'X-Service-Signature': signature,
  }
}
