/** One vocabulary: retired words stay out of file names, identifiers and texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/base/project_root.js'
import { retiredIn, STORED_NAMES, type TextFile } from './vocabulary/rules.js'

const FOLDERS = ['src', 'actors', 'gateway', 'test', 'protos']
const TEXT = /\.(?:ts|mjs|py|md|proto|sh|awk)$/
const AT_THE_ROOT = ['README.md', 'CHANGELOG.md', 'Makefile', 'eslint.config.mjs']

const file = (path: string, text = ''): TextFile => ({ path, text })

const BROKEN: readonly TextFile[] = [
  file('src/store/shelf.ts'),
  file('src/base/bounds.ts'),
  file('gateway/admission/standing_queue.ts'),
  file('src/a.ts', 'const keyPrint = 1'),
  file('src/a.ts', 'function giveBack() {}'),
  file('src/a.ts', "log.error('it can not be read')"),
  file('src/a.ts', '// The nonce is burnt.'),
  file('src/a.ts', '// Whoever connects first is heard.'),
  file('src/a.ts', ' * R1. The second one waits.'),
  file('gateway/README.md', 'Lanes take turns.'),
  file('src/a.ts', '// Nobody takes over from a living owner.'),
  file('src/a.ts', '// Whoever has the key can sign.'),
  file('src/a.ts', '/** Of the newest attempt. */'),
  file('src/a.ts', '/** Of W3C Trace Context. */'),
  file('protos/a.proto', '  // Of the error registry.'),
  file('src/a.ts', '/** The newest attempt; null: none. */'),
  file('src/a.ts', '/** Null: there is none. */'),
  file('src/a.ts', ' * @param from null: it is new'),
  file('protos/a.proto', 'int64 at = 1; // epoch ms; 0: never'),
  file('src/money/a.ts', 'const place = 1'),
  file('src/store/ledger.ts', 'export interface EntryPlace {'),
  file('protos/a.proto', '// Answers what is asked at the desk.'),
  file('src/a.ts', 'const { wakeAt } = context'),
  file('src/a.ts', 'const intent = context as IntentContext'),
  file('src/a.ts', 'export interface Page {'),
  file('gateway/a.ts', 'type Stream = ClientDuplexStream'),
  file('test/a.ts', 'interface Call {'),
]
const KEPT: readonly TextFile[] = [
  file('src/store/row_cache.ts'),
  file('src/store/a.ts', "d.text('context', 'handedOverAt')"),
  file('src/a.ts', 'const page = rows.slice(0, 10)'),
  file('src/a.ts', '// A request cannot wait longer.'),
  file('src/a.ts', "const keyId = 'nobody_sandbox_2026q4'"),
  file('src/a.ts', ' * - The second one waits.'),
  file('src/store/cluster/a.ts', 'const place = await placeOf(partner)'),
  file('src/a.ts', '/** The newest attempt. Null means that there is none. */'),
  file('src/a.ts', '/** Null until it is revoked. Default: the clock of the system. */'),
  file('src/a.ts', 'return given === null ? { at: null, ended: null } : of(given)'),
  file('src/a.ts', "const rule = 'it restarts in place' // in its place"),
  file('src/store/sqlite/schema/0001_a.sql', 'prints BLOB'),
  file('src/client/pagination.ts', 'export interface Page<Item> {'),
  file('src/a.ts', 'interface LinkStream {'),
]

t.test('a retired word is found', async (t) => {
  for (const broken of BROKEN) t.not(retiredIn(broken).length, 0, broken.path + broken.text)
  for (const kept of KEPT) t.strictSame(retiredIn(kept), [], kept.path + kept.text)
  for (const [name, reason] of Object.entries(STORED_NAMES)) t.ok(reason.length > 3, name)
})

t.test('the project uses none', async (t) => {
  const files = [...AT_THE_ROOT.filter(isThere), ...FOLDERS.flatMap(pathsIn)].map((path) =>
    file(path, readFileSync(join(projectRoot(), path), 'utf8')),
  )
  t.ok(files.length > 300, 'there are files to look at')
  const found = files.flatMap((one) => retiredIn(one).map((fault) => `${one.path}: ${fault}`))
  t.strictSame(found, [])
})

function pathsIn(folder: string): string[] {
  return readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT.test(name) && !name.startsWith('types/'))
    .map((name) => join(folder, name))
}

function isThere(path: string): boolean {
  return readdirSync(projectRoot()).includes(path)
}
