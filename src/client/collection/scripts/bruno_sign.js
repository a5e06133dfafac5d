const cryptoJs = require('crypto-js')
const { v4: uuid } = require('uuid')

// include sign.js

// Another amount each time: two equal payments within a minute are a duplicate scan.
bru.setVar('local_amount', String(25000 + Math.floor(Math.random() * 10000)))

if (!req.getHeader('Authorization')) {
  const given = req.getBody()
  const text = typeof given === 'string' || !given ? given || '' : JSON.stringify(given)
  const body = bru.interpolate(text)
  if (body !== '') req.setBody(body)
  const headers = signedHeaders({
    method: req.getMethod(),
    url: bru.interpolate(req.getUrl()),
    body,
    keyId: bru.interpolate('{{key_id}}'),
    secret: bru.interpolate('{{signing_secret}}'),
    timestamp: new Date().toISOString(),
    nonce: cryptoJs.SHA256(uuid() + uuid()).toString(cryptoJs.enc.Hex),
  })
  for (const name of Object.keys(headers)) req.setHeader(name, headers[name])
}
