// What the linter asks for beyond the compiler. House rules about files and imports are in test/house_rules.
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

/** Time, randomness and the environment come in as arguments; each has one source. */
const sources = [
  { object: 'Date', property: 'now', message: 'Take a Clock (src/base/clock.ts).' },
  { object: 'Math', property: 'random', message: 'Take a Random (src/base/random.ts).' },
  { object: 'process', property: 'env', message: 'Take Settings (src/settings/settings.ts).' },
]
/** tap waits for its own subtests. */
const tapRuns = [{ from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' }]

/**
 * `===` on a MAC tells by its time how much of it was right. A comparison with a literal or with
 * undefined only asks whether there is one.
 */
const SECRET = '/(^|[a-z])(signature|mac|hmac|digest|token|secret)$/i'
const secretOn = (side, other) =>
  ['name', 'property.name', 'callee.name', 'callee.property.name'].map((name) => ({
    selector:
      `BinaryExpression[operator=/^[!=]==?$/][${side}.${name}=${SECRET}]` +
      `:not([${other}.type="Literal"]):not([${other}.name="undefined"])`,
    message: 'Compare MACs, signatures and tokens in constant time (sameText, src/auth/mac.ts).',
  }))
const constantTime = [...secretOn('left', 'right'), ...secretOn('right', 'left')]

/** TypeScript 7.0 drops these parentheses, and so makes the call itself the class. */
const droppedParentheses = {
  selector:
    'NewExpression > MemberExpression.callee ' +
    ':matches(TSAsExpression, TSSatisfiesExpression, TSNonNullExpression) > ' +
    'CallExpression.expression',
  message: 'Name the value first: the compiler would drop the parentheses.',
}

/** A test ends when its function does, and tap waits for it. */
const testForms = [
  {
    selector: 'CallExpression[callee.object.name="t"][callee.property.name="end"]',
    message: 'Make the function of the test async.',
  },
  {
    selector: 'UnaryExpression[operator="void"] > CallExpression[callee.property.name="test"]',
    message: 'A test needs no void.',
  },
]

const without = (property) => ['error', ...sources.filter((source) => source.property !== property)]

export default defineConfig(
  { ignores: ['.build/', '.tap/', 'node_modules/', 'protos/types/', 'var/', 'eslint.config.mjs'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-console': 'error',
      'no-restricted-properties': ['error', ...sources],
      'no-restricted-syntax': ['error', droppedParentheses, ...constantTime],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafePromises: tapRuns }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Factories, not classes: no function here depends on `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
    },
  },
  { files: ['src/base/clock.ts'], rules: { 'no-restricted-properties': without('now') } },
  { files: ['src/base/random.ts'], rules: { 'no-restricted-properties': without('random') } },
  {
    files: ['src/settings/settings_reader.ts', 'src/supervisor/environment.ts'],
    rules: { 'no-restricted-properties': without('env') },
  },
  // The client stands alone: what callers may pass in has defaults of its own.
  { files: ['src/client/**'], rules: { 'no-restricted-properties': 'off' } },
  { files: ['src/operations/**', 'src/supervisor/**'], rules: { 'no-console': 'off' } },
  // Tests stand outside: they may look at the real clock and the real environment.
  {
    files: ['test/**'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-syntax': ['error', droppedParentheses, ...testForms],
      'no-console': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
)
