const cryptoJs = require('crypto-js')
const { v4: uuid } = require('uuid')

// include sign.js

// Another amount each time: two equal payments within a minute are a duplicate scan.
pm.variables.set('local_amount', String(25000 + Math.floor(Math.random() * 10000)))

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
