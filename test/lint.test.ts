/** The project's own ESLint rules, each on code that breaks it and code that keeps it. */
import { ESLint, Linter } from 'eslint'
import t from 'tap'
import { parser } from 'typescript-eslint'
import { projectRoot } from '../src/base/project_root.js'

const languageOptions: Linter.LanguageOptions = { parser }

/** The messages of the rules on syntax for this file about some code. */
async function syntaxRulesOf(file: string): Promise<(code: string) => string[]> {
  const eslint = new ESLint({ cwd: projectRoot() })
  const { rules } = (await eslint.calculateConfigForFile(file)) as Linter.Config
  const rule = rules?.['no-restricted-syntax'] ?? 'off'
  return (code) =>
    new Linter()
      .verify(code, [{ languageOptions, rules: { 'no-restricted-syntax': rule } }])
      .map(({ message }) => message)
}

t.test('secrets are compared in constant time', async (t) => {
  const faultsIn = await syntaxRulesOf('src/auth/verify.ts')
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

t.test('a test ends with its function', async (t) => {
  const faultsIn = await syntaxRulesOf('test/lint.test.ts')
  t.match(faultsIn("t.test('a', (t) => { t.end() })"), [/async/])
  t.match(faultsIn("void t.test('a', async (t) => {})"), [/no void/])
  t.same(faultsIn("t.test('a', async (t) => { socket.end(); void run() })"), [])
})

t.test('no parentheses are written that the compiler would drop', async (t) => {
  for (const file of ['src/auth/verify.ts', 'test/lint.test.ts']) {
    const faultsIn = await syntaxRulesOf(file)
    for (const code of ['new (f() as A).C()', 'new (f() as A).b.C()', 'new (f()!).C()']) {
      t.match(faultsIn(code), [/parentheses/], code)
    }
    for (const code of ['new (f() as C)()', '(f() as A).run()', 'new (a as A).C()']) {
      t.same(faultsIn(code), [], code)
    }
  }
})
