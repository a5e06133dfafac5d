/** Which caller a call's credentials stand for. */
import t from 'tap'
import { Metadata } from '@grpc/grpc-js'
import type { Caller } from '../../src/auth/caller.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import {
  callerEntry,
  configuredCaller,
  createCallers,
  type StoredCaller,
} from '../../src/auth/callers.js'
import { bearer } from '../../src/base/bearer.js'
import { instant, MINUTE, plus } from '../../src/base/clock.js'

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

void t.test('a token or a verified certificate stands for a configured caller', (t) => {
  const callers = callersWith()
  t.match(callers.identify(bearer(TOKEN), noCertificate), { name: 'gateway' })
  t.match(callers.identify(new Metadata(), certified('ledger.internal')), { name: 'ledger' })
  t.equal(callers.identify(bearer(`${TOKEN}x`), noCertificate), undefined)
  t.equal(callers.identify(new Metadata(), certified('ledger')), undefined)
  t.equal(callers.identify(new Metadata(), noCertificate), undefined)
  t.end()
})

void t.test('a wrong token is refused also beside a valid certificate', (t) => {
  const callers = callersWith()
  t.equal(callers.identify(bearer('a-token-of-no-caller'), certified('ledger.internal')), undefined)
  const basic = new Metadata()
  basic.set('authorization', 'Basic bGVkZ2Vy')
  t.equal(callers.identify(basic, certified('ledger.internal')), undefined)
  t.end()
})

void t.test('a revoked caller has neither its token nor its certificate', (t) => {
  const tokens = [{ digest: tokenDigest(TOKEN), createdAt: NOW, endsAt: null }]
  const open = storedCaller(OPERATOR, { tokens, certificate: 'ann.example' })
  t.match(callersWith(open).identify(bearer(TOKEN), noCertificate), OPERATOR)
  t.match(callersWith(open).identify(new Metadata(), certified('ann.example')), OPERATOR)
  const revoked = { ...open, revokedAt: NOW }
  t.equal(callersWith(revoked).identify(bearer(TOKEN), noCertificate), undefined)
  t.equal(callersWith(revoked).identify(new Metadata(), certified('ann.example')), undefined)
  t.end()
})

void t.test('a stored caller replaces the configured one of its name, also when revoked', (t) => {
  const ledger: Caller = { name: 'ledger', kind: 'service', roles: [], partners: ['acme'] }
  const moved = storedCaller(ledger, { certificate: 'ledger.new' })
  t.match(callersWith(moved).identify(new Metadata(), certified('ledger.new')), ledger)
  t.equal(callersWith(moved).identify(new Metadata(), certified('ledger.internal')), undefined)
  const revoked = { ...moved, revokedAt: NOW }
  t.equal(callersWith(revoked).identify(new Metadata(), certified('ledger.internal')), undefined)
  t.end()
})

void t.test('a rotated token reads until it ends, and a setting does not bring it back', (t) => {
  const endingAt = (endsAt: StoredCaller['createdAt']): StoredCaller =>
    storedCaller(OPERATOR, { tokens: [{ digest: tokenDigest(FORMER), createdAt: NOW, endsAt }] })
  const soon = callersWith(endingAt(plus(NOW, MINUTE)))
  t.match(soon.identify(bearer(FORMER), noCertificate), { name: 'ann', roles: ['read'] })
  t.equal(callersWith(endingAt(NOW)).identify(bearer(FORMER), noCertificate), undefined)
  const tokens = [{ digest: tokenDigest(TOKEN), createdAt: NOW, endsAt: NOW }]
  const retired = callersWith(storedCaller(OPERATOR, { tokens }))
  t.equal(retired.identify(bearer(TOKEN), noCertificate), undefined)
  t.end()
})
