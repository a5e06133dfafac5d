/** Detached signatures: the exact bytes, a known key, its own algorithm, nothing else. */
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { createSigner, createVerifier } from '../../../src/rails/iso20022/signature.js'

const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
}
const BODY = Buffer.from('<Message>é</Message>')
const pem = (alg: keyof typeof pairs): string =>
  pairs[alg].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const jwk = (alg: keyof typeof pairs, kid: string) => ({
  ...pairs[alg].publicKey.export({ format: 'jwk' }),
  ...{ kid, alg },
})
const verifier = createVerifier({ keys: [jwk('ES256', 'e1'), jwk('RS256', 'r1')] as never })
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

for (const [alg, kid] of [
  ['ES256', 'e1'],
  ['RS256', 'r1'],
] as const) {
  t.test(`${alg}: of these bytes only`, async (t) => {
    const header = await (await createSigner(pem(alg), kid, alg)).sign(BODY)
    t.match(header, /^[\w-]+\.\.[\w-]+$/)
    t.ok(await verifier.verify(BODY, header))
    t.notOk(await verifier.verify(Buffer.concat([BODY, Buffer.from('\n')]), header), 'other body')
    t.notOk(await verifier.verify(Buffer.alloc(0), header), 'no body')
    const [head = '', signature = ''] = header.split('..')
    t.notOk(await verifier.verify(BODY, `${head}.${BODY.toString('base64url')}.${signature}`))
    t.notOk(await verifier.verify(BODY, `${head}..`), 'no signature')
    t.notOk(await verifier.verify(BODY, `..${signature}`), 'no header')
    const other = alg === 'ES256' ? 'r1' : 'e1'
    for (const changed of ['unknown', other]) {
      const signed = await (await createSigner(pem(alg), changed, alg)).sign(BODY)
      t.notOk(await verifier.verify(BODY, signed), `key id ${changed}`)
    }
  })
}

t.test('no signature, another algorithm, an encoded payload', async (t) => {
  t.notOk(await verifier.verify(BODY, undefined))
  t.notOk(await verifier.verify(BODY, 'a'.repeat(100_000)))
  const b64 = { b64: false, crit: ['b64'] }
  t.notOk(await verifier.verify(BODY, `${encoded({ alg: 'none', kid: 'e1', ...b64 })}..`))
  const hmacHead = encoded({ alg: 'HS256', kid: 'r1', ...b64 })
  const publicPem = pairs.RS256.publicKey.export({ type: 'spki', format: 'pem' })
  const mac = createHmac('sha256', publicPem).update(`${hmacHead}.`).update(BODY)
  t.notOk(await verifier.verify(BODY, `${hmacHead}..${mac.digest('base64url')}`), 'HS256')
  const sign = (head: string, payload: string): string => {
    const signer = createSign('sha256').update(`${head}.`).update(payload)
    const key = { key: pairs.ES256.privateKey, dsaEncoding: 'ieee-p1363' } as const
    return `${head}..${signer.sign(key).toString('base64url')}`
  }
  const text = BODY.toString()
  t.ok(await verifier.verify(BODY, sign(encoded({ alg: 'ES256', kid: 'e1', ...b64 }), text)))
  t.notOk(await verifier.verify(BODY, sign(encoded({ alg: 'ES256', ...b64 }), text)), 'no key id')
  const plain = encoded({ alg: 'ES256', kid: 'e1' })
  t.notOk(await verifier.verify(BODY, sign(plain, BODY.toString('base64url'))), 'encoded payload')
  const critical = encoded({ alg: 'ES256', kid: 'e1', b64: false, crit: ['b64', 'x'], x: 1 })
  t.notOk(await verifier.verify(BODY, sign(critical, text)), 'a critical member that is unknown')
})

t.test('keys without an id or of another algorithm are refused at the start', async (t) => {
  const { alg: _, ...without } = jwk('ES256', 'e1')
  const { kid: __, ...nameless } = jwk('ES256', 'e1')
  t.throws(() => createVerifier({ keys: [without] as never }))
  t.throws(() => createVerifier({ keys: [nameless] as never }))
  const secret = { kty: 'oct', k: 'AAAA', kid: 'h1', alg: 'HS256' }
  t.throws(() => createVerifier({ keys: [secret] as never }))
})
