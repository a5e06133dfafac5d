/** Which caller a call's credentials stand for. */
import t from 'tap'
import { X509Certificate } from 'node:crypto'
import { Metadata } from '@grpc/grpc-js'
import type { Caller } from '../../src/auth/caller.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import {
  callerEntry,
  configuredCaller,
  createCallers,
  type StoredCaller,
} from '../../src/auth/callers.js'
import { operatorCertificates, showCertificate } from '../../src/auth/operator_certificates.js'
import { bearer } from '../../src/grpc/bearer.js'
import { DAY, instant, MINUTE, plus, systemClock } from '../../src/base/clock.js'
import { createAuthority } from '../support/certificates.js'

const NOW = instant(Date.UTC(2026, 10, 21))
const TOKEN = 'a-token-that-is-long-enough-for-a-caller'
const FORMER = 'a-former-token-that-is-long-enough-as-well'

const CONFIGURED = [
  callerEntry('gateway', 'gateway', TOKEN),
  'service:ledger:certificate:ledger.internal',
].map(configuredCaller)

const OPERATOR: Caller = { name: 'ann', kind: 'operator', roles: ['operate'], partners: null }

const storedCaller = (caller: Caller, changes: Partial<StoredCaller> = {}): StoredCaller => ({
  caller,
  certificate: null,
  tokens: [],
  createdAt: NOW,
  revokedAt: null,
  ...changes,
})

const callersWith = (...stored: StoredCaller[]): ReturnType<typeof createCallers> =>
  createCallers(
    CONFIGURED,
    { now: () => NOW },
    new Map(stored.map((row) => [row.caller.name, row])),
  )

const noCertificate = (): undefined => undefined
const certified = (name: string) => (): string => name

t.test('a token or a verified certificate stands for a configured caller', async (t) => {
  const callers = callersWith()
  t.match(callers.identify(bearer(TOKEN), noCertificate), { name: 'gateway' })
  t.match(callers.identify(new Metadata(), certified('ledger.internal')), { name: 'ledger' })
  t.equal(callers.identify(bearer(`${TOKEN}x`), noCertificate), undefined)
  t.equal(callers.identify(new Metadata(), certified('ledger')), undefined)
  t.equal(callers.identify(new Metadata(), noCertificate), undefined)
})

t.test('a wrong token is refused also beside a valid certificate', async (t) => {
  const callers = callersWith()
  t.equal(callers.identify(bearer('a-token-of-no-caller'), certified('ledger.internal')), undefined)
  const basic = new Metadata()
  basic.set('authorization', 'Basic bGVkZ2Vy')
  t.equal(callers.identify(basic, certified('ledger.internal')), undefined)
})

t.test('a revoked caller has neither its token nor its certificate', async (t) => {
  const tokens = [{ digest: tokenDigest(TOKEN), createdAt: NOW, endsAt: null }]
  const open = storedCaller(OPERATOR, { tokens, certificate: 'ann.example' })
  t.match(callersWith(open).identify(bearer(TOKEN), noCertificate), OPERATOR)
  t.match(callersWith(open).identify(new Metadata(), certified('ann.example')), OPERATOR)
  const revoked = { ...open, revokedAt: NOW }
  t.equal(callersWith(revoked).identify(bearer(TOKEN), noCertificate), undefined)
  t.equal(callersWith(revoked).identify(new Metadata(), certified('ann.example')), undefined)
})

t.test('a stored caller replaces the configured one of its name, also when revoked', async (t) => {
  const ledger: Caller = { name: 'ledger', kind: 'service', roles: [], partners: ['acme'] }
  const moved = storedCaller(ledger, { certificate: 'ledger.new' })
  t.match(callersWith(moved).identify(new Metadata(), certified('ledger.new')), ledger)
  t.equal(callersWith(moved).identify(new Metadata(), certified('ledger.internal')), undefined)
  const revoked = { ...moved, revokedAt: NOW }
  t.equal(callersWith(revoked).identify(new Metadata(), certified('ledger.internal')), undefined)
})

t.test('a rotated token reads until it ends, and a setting does not bring it back', async (t) => {
  const endingAt = (endsAt: StoredCaller['createdAt']): StoredCaller =>
    storedCaller(OPERATOR, { tokens: [{ digest: tokenDigest(FORMER), createdAt: NOW, endsAt }] })
  const soon = callersWith(endingAt(plus(NOW, MINUTE)))
  t.match(soon.identify(bearer(FORMER), noCertificate), { name: 'ann', roles: ['read'] })
  t.equal(callersWith(endingAt(NOW)).identify(bearer(FORMER), noCertificate), undefined)
  const tokens = [{ digest: tokenDigest(TOKEN), createdAt: NOW, endsAt: NOW }]
  const retired = callersWith(storedCaller(OPERATOR, { tokens }))
  t.equal(retired.identify(bearer(TOKEN), noCertificate), undefined)
})

t.test('a console calls as the operator whose certificate it shows, or not at all', async (t) => {
  const own = createAuthority()
  const der = (certificate: string): Buffer => new X509Certificate(certificate).raw
  const CONSOLE = 'the-token-of-a-console-that-is-long-enough'
  const configured = [
    ...CONFIGURED,
    configuredCaller(callerEntry('console', 'console', CONSOLE)),
    configuredCaller('operator:bob:certificate:bob.example'),
  ]
  const ann = storedCaller(OPERATOR, { certificate: 'ann.example' })
  const identify = (certificates: readonly Buffer[], by = CONSOLE, row = ann, now = Date.now()) => {
    const clock = { now: () => instant(now) }
    const ca = [new X509Certificate(own.certificate)]
    const stored = new Map([['ann', row]])
    const check = operatorCertificates(ca, clock)
    const callers = createCallers(configured, clock, stored, check)
    const metadata = bearer(by)
    for (const each of certificates) metadata.add('operator-certificate-bin', each)
    return callers.identify(metadata, noCertificate)
  }
  const annsOwn = der(own.issue('ann.example').certificate)
  t.match(identify([annsOwn]), OPERATOR)
  t.match(identify([der(own.issue('bob.example').certificate)]), { name: 'bob', kind: 'operator' })

  const ended = own.issue('ann.example', { notAfter: new Date(systemClock.now() - DAY) })
  const cases: Readonly<Record<string, readonly Buffer[]>> = {
    none: [],
    'two of them': [annsOwn, annsOwn],
    'no certificate': [Buffer.from('ann.example')],
    'of another CA': [der(createAuthority().issue('ann.example').certificate)],
    'of a caller that is no operator': [der(own.issue('ledger.internal').certificate)],
    'of nobody': [der(own.issue('ann').certificate)],
    expired: [der(ended.certificate)],
  }
  for (const [what, shown] of Object.entries(cases)) t.equal(identify(shown), undefined, what)
  t.equal(identify([annsOwn], CONSOLE, { ...ann, revokedAt: NOW }), undefined, 'revoked')
  const later = Date.parse(new X509Certificate(annsOwn).validTo) + 1
  t.equal(identify([annsOwn], CONSOLE, ann, later), undefined, 'it ends while it is in use')
  const ahead = (days: number): Date => new Date(systemClock.now() + days * DAY)
  const next = own.issue('ann.example', { notBefore: ahead(1), notAfter: ahead(5_000) })
  const shown = (now?: Date) => identify([der(next.certificate)], CONSOLE, ann, now?.getTime())
  t.equal(shown(), undefined, 'it is not valid yet')
  t.match(shown(ahead(2)), OPERATOR)
  t.equal(shown(ahead(4_000)), undefined, 'the certificate of its CA has ended')
  t.match(identify([annsOwn], TOKEN), { name: 'gateway' }, 'only a console shows certificates')
  t.equal(identify([annsOwn], 'a-token-of-no-caller'), undefined)

  const metadata = bearer(CONSOLE)
  showCertificate(metadata, annsOwn)
  const without = createCallers(configured, { now: () => NOW }, new Map([['ann', ann]]))
  t.equal(without.identify(metadata, noCertificate), undefined, 'no CA is configured')
})
