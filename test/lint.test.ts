/** The project's own ESLint rules, each on code that breaks it and code that keeps it. */
import { ESLint, Linter } from 'eslint'
import t from 'tap'
import { projectRoot } from '../src/base/project_root.js'

void t.test('secrets are compared in constant time', async (t) => {
  const eslint = new ESLint({ cwd: projectRoot() })
  const { rules } = (await eslint.calculateConfigForFile('src/auth/verify.ts')) as Linter.Config
  const rule = rules?.['no-restricted-syntax'] ?? 'off'
  const faultsIn = (code: string): string[] =>
    new Linter()
      .verify(code, [{ rules: { 'no-restricted-syntax': rule } }])
      .map(({ message }) => message)
  for (const code of [
    'signature === given',
    'given !== request.signature',
    'bodyMac == mac',
    'expected != digest(text)',
    'auth.hmac(text) === header',
    'internalToken === metadata.token',
    'secret === key.secret',
  ]) {
    t.match(faultsIn(code), [/constant time/], code)
  }
  for (const code of [
    'signature === undefined',
    'token !== null',
    "token === ''",
    'undefined === mac',
    'stomach === other',
    'tokenKind === other',
    'signatures.length === 1',
    'sameText(signature, given)',
  ]) {
    t.same(faultsIn(code), [], code)
  }
})
