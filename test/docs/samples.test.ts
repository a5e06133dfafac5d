/**
 * The JavaScript and TypeScript programs of the partner guide and of the clients' guides compile as
 * strict TypeScript, as they stand.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { projectRoot } from '../../src/base/project_root.js'
import { partnerGuideFiles } from '../support/partner_guide.js'

t.setTimeout(0)
const root = projectRoot()
const PAGES = [...partnerGuideFiles(), 'src/client/README.md', 'src/client/python/README.md']
/** They continue the program of the quick start, the first one of the guide. */
const CONTINUES = /<!-- (first payment|first webhook) -->\s*$/

const OPTIONS: ts.CompilerOptions = {
  ...{ strict: true, noEmit: true, skipLibCheck: true },
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
}

interface Program {
  readonly name: string
  readonly text: string
}

/** A program that continues another one is appended to it. */
function programsIn(pages: readonly string[]): readonly Program[] {
  const programs: Program[] = []
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const { index, 1: code = '' } of text.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)) {
      const before = text.slice(0, index)
      const line = before.split('\n').length
      const [first] = programs
      const isMore = CONTINUES.test(before) && first !== undefined
      programs.push({
        name: `${page.replaceAll('/', '_')}_${line}`,
        text: isMore ? `${first.text}\n${code}` : code,
      })
    }
  }
  return programs
}

function faultsOf(folder: string, programs: readonly Program[]): readonly string[] {
  const files = programs.map(({ name, text }) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, text)
    return file
  })
  const program = ts.createProgram(files, OPTIONS)
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1
    return `${file?.fileName} ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

t.test('every program of the guides is strict TypeScript', async (t) => {
  const programs = programsIn(PAGES)
  t.ok(programs.length >= 7)
  const folder = t.testdir({ 'package.json': '{"type": "module"}' })
  mkdirSync(join(folder, 'node_modules/@causeway/client'), { recursive: true })
  const client = join(folder, 'node_modules/@causeway/client')
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(client, 'package.json'), '{"type": "module", "exports": "./index.ts"}')
  writeFileSync(join(client, 'index.ts'), `export * from '${join(root, 'src/client/index.js')}'`)
  t.same(faultsOf(folder, programs), [])
  t.not(faultsOf(folder, [{ name: 'broken', text: 'export const f = (x) => x' }]).length, 0)
})
