/**
 * A planted fault: one text of a source file is replaced by another one, and a test must fail.
 *
 * - The text occurs exactly once in the file, so that the fault is where its sentence says.
 * - The test is the narrowest one that a reviewer would expect to notice the fault.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import type { Store } from '../runner/jobs.js'

export interface Mutant {
  /** What the changed program does wrong, as one sentence. */
  readonly fault: string
  /** A TypeScript file of the product, from the root of the repository. */
  readonly file: string
  readonly text: string
  readonly replacement: string
  /** The path of the test file, without `.test.ts`. */
  readonly test: string
  /** Default: `sqlite`. On PostgreSQL the test gets a server of the run. */
  readonly store?: Store
}

const POSTGRES = 'postgres/'

/**
 * Faults of one file that one test must notice.
 *
 * @param test its path in test/, without `.test.ts`; on PostgreSQL it begins with `postgres/`
 * @param faults the text and its replacement, by the sentence of the fault
 */
export const faultsIn = (
  file: string,
  test: string,
  faults: Readonly<Record<string, readonly [text: string, replacement: string]>>,
): readonly Mutant[] =>
  Object.entries(faults).map(([fault, [text, replacement]]) => ({
    ...{ fault, file, text, replacement },
    ...(test.startsWith(POSTGRES)
      ? { test: `test/${test.slice(POSTGRES.length)}`, store: 'postgres' }
      : { test: `test/${test}` }),
  }))

/** @throws when the text does not occur exactly once */
export function mutatedSource(root: string, { file, text, replacement }: Mutant): string {
  const [before = '', after, ...more] = readFileSync(join(root, file), 'utf8').split(text)
  if (after === undefined || more.length > 0)
    throw new Error(`${file}: the text occurs ${more.length + (after === undefined ? 0 : 1)} times`)
  return before + replacement + after
}

/**
 * The JavaScript that the compiler makes of the changed file. Types are not checked.
 *
 * @throws when the change is no longer TypeScript
 */
export function compiled(source: string, file: string): string {
  const { outputText, diagnostics = [] } = ts.transpileModule(source, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  })
  const [diagnostic] = diagnostics
  if (diagnostic === undefined) return outputText
  throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`)
}
