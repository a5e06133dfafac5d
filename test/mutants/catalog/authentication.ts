/** Faults of the area `authentication`. */
import type { Mutant } from '../mutant.js'

export const AUTHENTICATION: readonly Mutant[] = [
  {
    fault: 'A revoked key still signs.',
    file: 'src/auth/verify.ts',
    text: 'key.revokedAt !== undefined && key.revokedAt <= now',
    replacement: 'key.revokedAt === undefined && now < 0',
    test: 'test/auth/verify',
  },
  {
    fault: 'A key of production signs for the sandbox.',
    file: 'src/auth/verify.ts',
    text: 'if (environment !== request.environment) return',
    replacement: 'if (false) return',
    test: 'test/auth/verify',
  },
  {
    fault: 'A timestamp from the future is accepted.',
    file: 'src/auth/verify.ts',
    text: 'Math.abs(now - at)',
    replacement: '(now - at)',
    test: 'test/auth/verify',
  },
  {
    fault: 'A timestamp from the past is accepted.',
    file: 'src/auth/verify.ts',
    text: 'Math.abs(now - at)',
    replacement: '(at - now)',
    test: 'test/auth/verify',
  },
  {
    fault: 'A wrong signature is accepted.',
    file: 'src/auth/verify.ts',
    text: 'if (!matches) return',
    replacement: 'if (!matches && now < 0) return',
    test: 'test/auth/verify',
  },
  {
    fault: 'The address is checked after the key, so a caller learns which keys exist.',
    file: 'src/auth/verify.ts',
    text:
      '  if (!request.allowsAddress(partner, environment)) return ' +
      "refused('address_not_allowed')\n" +
      "  if (known === undefined) return refused('key_unknown')",
    replacement:
      "  if (known === undefined) return refused('key_unknown')\n" +
      '  if (!request.allowsAddress(partner, environment)) return ' +
      "refused('address_not_allowed')",
    test: 'test/auth/verify',
  },
  {
    fault: 'The path is not signed.',
    file: 'src/auth/canonical.ts',
    text: '${method}\\n${path}\\n',
    replacement: '${method}\\n\\n',
    test: 'test/auth/canonical',
  },
  {
    fault: 'The nonce is not signed.',
    file: 'src/auth/canonical.ts',
    text: '${timestamp}\\n${nonce}\\n',
    replacement: '${timestamp}\\n',
    test: 'test/auth/canonical',
  },
  {
    fault: 'The body is not signed.',
    file: 'src/auth/canonical.ts',
    text: "body.length === 0 ? '' : hash('sha256', body)",
    replacement: "body.length >= 0 ? '' : hash('sha256', body)",
    test: 'test/auth/canonical',
  },
  {
    fault: 'Texts of equal length are the same MAC.',
    file: 'src/auth/mac.ts',
    text: 'one.length === other.length && timingSafeEqual(one, other)',
    replacement: 'one.length === other.length',
    test: 'test/auth/mac',
  },
  {
    fault: 'A key longer than a block is cut instead of hashed.',
    file: 'src/auth/mac.ts',
    text: "key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key",
    replacement: 'key.subarray(0, BLOCK_BYTES)',
    test: 'test/auth/mac',
  },
  {
    fault: 'An expired token is accepted.',
    file: 'src/auth/token.ts',
    text: 'now >= claims.expiresAt * SECOND',
    replacement: 'now < 0',
    test: 'test/auth/token',
  },
  {
    fault: 'A token of any signature is accepted.',
    file: 'src/auth/token.ts',
    text: "if (!sameText(key.mac(header + payload, 'base64url'), signature)) {",
    replacement: "if (signature === '') {",
    test: 'test/auth/token',
  },
  {
    fault: 'A receipt token is accepted as a session token.',
    file: 'src/auth/token.ts',
    text: 'return sessionPayload(claims) === text ? claims : undefined',
    replacement: 'return claims',
    test: 'test/auth/token',
  },
  {
    fault: 'A nonce is accepted twice.',
    file: 'src/auth/nonces.ts',
    text: 'if (word !== 0 && isLive(word, tick)) return false',
    replacement: 'if (word !== 0 && isLive(word, tick)) return true',
    test: 'test/auth/nonces',
  },
  {
    fault: 'A nonce expires after half the window.',
    file: 'src/auth/nonces.ts',
    text: 'return age <= WINDOW_TICKS',
    replacement: 'return age <= WINDOW_TICKS / 2',
    test: 'test/auth/nonces',
  },
  {
    fault: 'A clock that is set forward expires nonces early.',
    file: 'src/auth/nonces.ts',
    text: 'elapsedMs += Math.min(ahead, stepMs)',
    replacement: 'elapsedMs += Math.min(ahead, 2 * windowMs)',
    test: 'test/auth/nonces',
  },
  {
    fault: 'A full table accepts nonces without keeping them apart.',
    file: 'src/auth/nonces.ts',
    text: 'if (size < maxEntries) return false',
    replacement: 'if (size >= 0) return false',
    test: 'test/auth/nonces',
  },
  {
    fault: 'A sealed text opens in another row.',
    file: 'src/auth/secret_box.ts',
    text: 'Buffer.from(`v1.${kid}.${field}`)',
    replacement: 'Buffer.from(`v1.${kid}.${field.length > 999}`)',
    test: 'test/auth/secret_box',
  },
  {
    fault: 'A revoked caller keeps its token.',
    file: 'src/auth/callers.ts',
    text: 'if (revokedAt !== null) return undefined',
    replacement: 'if (revokedAt !== null) return caller',
    test: 'test/auth/callers',
  },
  {
    fault: 'A stored caller that was revoked keeps its client certificate.',
    file: 'src/auth/callers.ts',
    text: 'certificate === name && revokedAt === null',
    replacement: 'certificate === name',
    test: 'test/auth/callers',
  },
  {
    fault: 'A rotated token of an operator keeps all roles.',
    file: 'src/auth/callers.ts',
    text: "caller.kind === 'operator' ? { ...caller, roles: ['read'] } : caller",
    replacement: 'caller',
    test: 'test/auth/callers',
  },
  {
    fault: 'A call with a wrong token is authenticated by its certificate.',
    file: 'src/auth/callers.ts',
    text: 'return token === undefined ? undefined : withToken(tokenDigest(token))',
    replacement:
      'const found = token === undefined ? undefined : ' +
      'withToken(tokenDigest(token))\n' +
      '      if (found !== undefined) return found',
    test: 'test/auth/callers',
  },
  {
    fault: 'A revoked caller is accepted as long as a setting names it.',
    file: 'src/auth/callers.ts',
    text: ' && !stored.has(known.caller.name)',
    replacement: '',
    test: 'test/auth/callers',
  },
  {
    fault: 'A key of another partner consumes the nonce of this one.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'key === undefined || key.tenant !== queueKey',
    replacement: 'key === undefined',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'The processor does not check again that the key is active.',
    file: 'src/processor/cycle/pipeline.ts',
    text: "if (!isActiveKey(key, ctx.now)) return 'authentication_failed'",
    replacement: '',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'The processor accepts a used nonce.',
    file: 'src/processor/cycle/pipeline.ts',
    text: "if (!nonces.add(scratch, ctx.now)) return 'authentication_failed'",
    replacement: 'nonces.add(scratch, ctx.now)',
    test: 'test/processor/pipeline',
  },
  {
    fault: 'A used nonce is not written to disk.',
    file: 'src/processor/cycle/pipeline.ts',
    text: 'ctx.batch.addNonce(scratch)',
    replacement: 'void scratch',
    test: 'test/processor/pipeline',
  },
]
