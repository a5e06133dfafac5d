/** Faults of the area `authentication`. */
import { faultsIn, type Mutant } from '../mutant.js'

export const AUTHENTICATION: readonly Mutant[] = [
  ...faultsIn('src/auth/verify.ts', 'auth/verify', {
    'A revoked key still signs.': [
      'key.revokedAt !== undefined && key.revokedAt <= now',
      'key.revokedAt === undefined && now < 0',
    ],
    'A key of production signs for the sandbox.': [
      'if (environment !== request.environment) return',
      'if (false) return',
    ],
    'A timestamp from the future is accepted.': ['Math.abs(now - at)', '(now - at)'],
    'A timestamp from the past is accepted.': ['Math.abs(now - at)', '(at - now)'],
    'A wrong signature is accepted.': ['if (!matches) return', 'if (!matches && now < 0) return'],
    'The address is checked after the key, so a caller learns which keys exist.': [
      '  if (!request.allowsAddress(partner)) return ' +
        "refused('address_not_allowed')\n" +
        "  if (known === undefined) return refused('key_unknown')",
      "  if (known === undefined) return refused('key_unknown')\n" +
        '  if (!request.allowsAddress(partner)) return ' +
        "refused('address_not_allowed')",
    ],
  }),
  ...faultsIn('src/auth/canonical.ts', 'auth/canonical', {
    'The path is not signed.': ['${method}\\n${path}\\n', '${method}\\n\\n'],
    'The nonce is not signed.': ['${timestamp}\\n${nonce}\\n', '${timestamp}\\n'],
    'The body is not signed.': [
      "body.length === 0 ? '' : hash('sha256', body)",
      "body.length >= 0 ? '' : hash('sha256', body)",
    ],
  }),
  ...faultsIn('src/auth/mac.ts', 'auth/mac', {
    'Texts of equal length are the same MAC.': [
      'one.length === other.length && timingSafeEqual(one, other)',
      'one.length === other.length',
    ],
    'A key longer than a block is cut instead of hashed.': [
      "key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key",
      'key.subarray(0, BLOCK_BYTES)',
    ],
  }),
  ...faultsIn('src/auth/token.ts', 'auth/token', {
    'An expired token is accepted.': ['now >= claims.expiresAt * SECOND', 'now < 0'],
    'A token of any signature is accepted.': [
      "if (!sameText(key.mac(header + payload, 'base64url'), signature)) {",
      "if (signature === '') {",
    ],
    'A receipt token is accepted as a session token.': [
      'return sessionPayload(claims) === text ? claims : undefined',
      'return claims',
    ],
  }),
  ...faultsIn('src/auth/nonces.ts', 'auth/nonces', {
    'A nonce is accepted twice.': [
      'if (word !== 0 && isLive(word, tick)) return false',
      'if (word !== 0 && isLive(word, tick)) return true',
    ],
    'A nonce expires after half the window.': [
      'return age <= WINDOW_TICKS',
      'return age <= WINDOW_TICKS / 2',
    ],
    'A clock that is set forward expires nonces early.': [
      'elapsedMs += Math.min(ahead, stepMs)',
      'elapsedMs += Math.min(ahead, 2 * windowMs)',
    ],
    'A full table accepts nonces without keeping them apart.': [
      'if (size < maxEntries) return false',
      'if (size >= 0) return false',
    ],
  }),
  ...faultsIn('src/auth/secret_box.ts', 'auth/secret_box', {
    'A sealed text opens in another row.': [
      'Buffer.from(`v1.${kid}.${field}`)',
      'Buffer.from(`v1.${kid}.${field.length > 999}`)',
    ],
  }),
  ...faultsIn('src/auth/callers.ts', 'auth/callers', {
    'A revoked caller keeps its token.': [
      'if (revokedAt !== null) return undefined',
      'if (revokedAt !== null) return caller',
    ],
    'A stored caller that was revoked keeps its client certificate.': [
      'certificate === name && revokedAt === null',
      'certificate === name',
    ],
    'A rotated token of an operator keeps all roles.': [
      "caller.kind === 'operator' ? { ...caller, roles: ['read'] } : caller",
      'caller',
    ],
    'A call with a wrong token is authenticated by its certificate.': [
      'return token === undefined ? undefined : withToken(tokenDigest(token))',
      'const found = token === undefined ? undefined : ' +
        'withToken(tokenDigest(token))\n' +
        '      if (found !== undefined) return found',
    ],
    'A revoked caller is accepted as long as a setting names it.': [
      ' && !stored.has(known.caller.name)',
      '',
    ],
  }),
  ...faultsIn('src/auth/operator_certificates.ts', 'auth/callers', {
    'A certificate is valid as soon as that of its CA.': [
      'Math.max(...chain.map((each) => Date.parse(each.validFrom)))',
      'Math.min(...chain.map((each) => Date.parse(each.validFrom)))',
    ],
    'A certificate outlives that of its CA.': [
      'Math.min(...chain.map((each) => Date.parse(each.validTo)))',
      'Date.parse(certificate.validTo)',
    ],
  }),
  ...faultsIn('src/processor/commands/callers/caller_setting.ts', 'processor/shared_settings', {
    'A setting extends the end of a token.': [
      '({ ...token, endsAt: earlier(token.endsAt, setAt) })',
      '({ ...token, endsAt: setAt })',
    ],
    'A setting gives a caller the token of another one.': [
      'given.tokens.filter(isFree)',
      'given.tokens',
    ],
    'A setting brings a revoked caller back.': [
      'known?.revokedAt ?? given.revokedAt',
      'given.revokedAt',
    ],
  }),
  ...faultsIn('src/processor/cycle/pipeline.ts', 'processor/repeated_requests', {
    'A slow gateway lets a request in whose nonce is forgotten.': [
      'Math.abs(requestsNow - (signedAt ?? requestsNow))',
      '((signedAt ?? requestsNow) - requestsNow)',
    ],
    'A fast gateway lets a request in that outlasts its nonce.': [
      'Math.abs(requestsNow - (signedAt ?? requestsNow))',
      '(requestsNow - (signedAt ?? requestsNow))',
    ],
  }),
  ...faultsIn('src/processor/cycle/pipeline.ts', 'processor/pipeline', {
    'A key of another partner consumes the nonce of this one.': [
      'key === undefined || key.tenant !== queueKey',
      'key === undefined',
    ],
    'The processor does not check again that the key is active.': [
      "if (!isActiveKey(key, ctx.now)) return 'authentication_failed'",
      '',
    ],
    'The processor accepts a used nonce.': [
      "if (!nonces.add(scratch, ctx.now)) return 'authentication_failed'",
      'nonces.add(scratch, ctx.now)',
    ],
    'A used nonce is not written to disk.': ['ctx.batch.addNonce(scratch)', 'void scratch'],
  }),
  ...faultsIn('src/console/app.ts', 'console/sessions', {
    'A page that connects again keeps its session.': [
      'c.req.path === LIVE ? sessions.look : sessions.find',
      'sessions.find',
    ],
  }),
  ...faultsIn('src/console/actions/actions.ts', 'console/actions', {
    'A change without an answer is repeated.': [
      'if (!(error instanceof NotSent)) throw error\n',
      '\n',
    ],
  }),
  ...faultsIn('src/console/session/sign_in_limit.ts', 'console/sessions', {
    'A sign-in of an earlier minute counts as passed in this one.': [
      'if (taken !== failures) return\n',
      '\n',
    ],
    'Failed sign-ins of others keep operators out.': ['if (known.has(token)) return 0\n', '\n'],
    'A token that was revoked is never bounded.': ['return known.remove(token)', 'return'],
    'Failures of other sources keep a first attempt out.': [
      '(own === 0 ? FIRST_IN_ALL : IN_ALL)',
      'IN_ALL',
    ],
  }),
]
