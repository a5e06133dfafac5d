/**
 * Which test files run on PostgreSQL: those that open the store of the run.
 *
 * - Test files open the store of the run only through support/books, so the imports of the compiled
 *   files show which ones depend on it. All others run once, whatever the store.
 * - A file that starts its own PostgreSQL server is independent of the store of the run.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'

const BUILT = join(projectRoot(), '.build')
export const STORE_OF_THE_RUN = join(BUILT, 'test/support/books.js')
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g

/**
 * Test files that `STORE=postgres` leaves out, by the start of their name, and why. Single tests
 * in other files say so with `sqliteOnly` (support/books).
 */
export const SQLITE_ONLY: Readonly<Record<string, string>> = {
  'test/audit/main': 'audits files; the tests of whole stacks audit PostgreSQL by the same program',
  'test/client/collection_run':
    'the terminal tools of Bruno and Postman; contract/generated sends each request on both stores',
  'test/console/browser':
    "pages over the operators' API; console/decisions shows such pages on both stores",
  'test/console/hostile': 'texts, widths and timeouts of pages; console/decisions has them on both',
  'test/console/http': 'access, headers, sessions and certificates, which are in no store',
  'test/contract/generated_client': 'the types of the document; client/running_stack calls on both',
  'test/docs/browser': 'a page over the API; clients call the API on both stores',
  'test/golden': 'data folders of earlier versions',
  'test/integration/access_matrix':
    'credentials of each route, checked in memory; the access_gateways test stores nonces on both',
  'test/integration/archive':
    'a processor does not serve a server whose clock is a year ahead; processor/archive is on both',
  'test/integration/full_disk': 'a full disk under the file',
  'test/integration/guide':
    'the programs of the guide; their requests are those of client/running_stack',
  'test/load': 'seeds and measures files',
  'test/processor/damaged_cells': 'copies of files; both stores load the rows by the same code',
  'test/restore/guide': 'backups of files',
  'test/restore/restore': 'backups of files',
  'test/powercut': 'images of the file after a power cut',
  'test/processor/reflection': 'describes the contracts, which are in no store',
  'test/protos': 'contracts and programs; processor/partner_services makes their calls on both',
  'test/simulation': 'counts the reads and writes of the file',
}

/** Test files with a PostgreSQL server of their own; they run once, beside those on SQLite. */
export const OWN_SERVER: Readonly<Record<string, string>> = {
  'test/cluster/archive': 'a trial cluster, which has its own server and standby',
  'test/cluster/partner_move': 'a trial cluster, which has its own server and standby',
  'test/integration/postgres': 'one stack, whose server is killed',
  'test/integration/shard_recovery': 'two shards of a cluster',
  'test/integration/spare_processor': 'processors of a cluster, which has its own server',
  'test/operations/store_copy': 'copies from SQLite to PostgreSQL',
  'test/restore/server': 'backs a server up and restores it',
  'test/store/partner_copy': "sets a partner's payments apart for its move between two shards",
  'test/store/partner_transfer': 'moves a partner between two shards',
  'test/store/postgres_contract': "the store's contract on PostgreSQL",
  'test/trial_cluster/guide': 'a trial cluster, by the pages of the guide',
  'test/trial_cluster/trial_cluster': 'a trial cluster, which has its own server and standby',
}

const isNamedIn = (names: Readonly<Record<string, string>>, name: string): boolean =>
  Object.keys(names).some((start) => name.startsWith(start))

/** @param name of a test file: its path without `.test.js` */
export const runsOnPostgres = (name: string): boolean =>
  !isNamedIn(SQLITE_ONLY, name) && !isNamedIn(OWN_SERVER, name) && opensStore(name)

/** Whether a test file opens the store of the run. */
export const opensStore = (name: string): boolean => importedBy(name).has(STORE_OF_THE_RUN)

/** A compiled test file and all that it imports, directly or not. */
export function importedBy(name: string): ReadonlySet<string> {
  const seen = new Set([join(BUILT, `${name}.test.js`)])
  for (const file of seen) {
    for (const imported of importsOf(file)) seen.add(imported)
  }
  return seen
}

const known = new Map<string, readonly string[]>()

function importsOf(file: string): readonly string[] {
  const found = known.get(file)
  if (found !== undefined) return found
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const imports = [...text.matchAll(IMPORT)]
    .map(([, path = '']) => resolve(dirname(file), path))
    .filter((path) => existsSync(path))
  known.set(file, imports)
  return imports
}
