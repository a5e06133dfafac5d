const cryptoJs = require('crypto-js')
const { v4: uuid } = require('uuid')

// include sign.js

if (!pm.request.headers.has('Authorization')) {
  const given = pm.request.body && pm.request.body.raw
  const body = given ? pm.variables.replaceIn(given) : ''
  if (body !== '') pm.request.body.update({ mode: 'raw', raw: body })
  const headers = signedHeaders({
    method: pm.request.method,
    url: pm.variables.replaceIn(pm.request.url.toString()),
    body,
    keyId: pm.variables.get('key_id'),
    secret: pm.variables.get('signing_secret'),
    timestamp: new Date().toISOString(),
    nonce: cryptoJs.SHA256(uuid() + uuid()).toString(cryptoJs.enc.Hex),
  })
  for (const key of Object.keys(headers)) pm.request.headers.upsert({ key, value: headers[key] })
}
