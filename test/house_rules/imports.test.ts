/**
 * Rules about imports: of modules, of the folders inside them, of drivers.
 *
 * Does not own: the text of files (files.test).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import {
  checkRules,
  file,
  files,
  importedBy,
  importsOf,
  isSource,
  linesWhere,
  type File,
  type Rule,
} from './rules.js'

const BASE = 'src/base'
const FILES = 'src/files'
const SETTINGS = 'src/settings'
const CONFIGURED = [BASE, FILES, SETTINGS]
const GRPC = 'src/grpc'
const PROCESS = 'src/process'
const METRICS = 'src/metrics'
const TRACING = 'src/tracing'
/** The port of a connection, and its SQLite driver. */
const CONNECTION = 'src/store/database.ts'
const SQLITE_DRIVER = 'src/store/sqlite/database.ts'
const DATABASE = [CONNECTION, SQLITE_DRIVER]
const DATABASE_COPY = 'src/store/sqlite/database_copy.ts'
const COPIED_BOOKS = 'src/store/copied_books.ts'
const CHECKPOINTS = 'src/store/sqlite/checkpoints.ts'
const DIALECT = 'src/store/dialect.ts'
const SQLITE = 'src/store/sqlite'
const POSTGRES = 'src/store/postgres'
const CLUSTER = 'src/store/cluster'

/**
 * The allowed imports. A module is a folder or one file of it; the longest name
 * that fits a path is its module. Data flows one way: gateway, processor and webhook pool share
 * contracts, never code of each other, and pure rules import nothing that does I/O.
 */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  [BASE]: [],
  [FILES]: [BASE],
  [SETTINGS]: [BASE, FILES],
  [GRPC]: [BASE, SETTINGS],
  [PROCESS]: [BASE, SETTINGS],
  [METRICS]: [...CONFIGURED, GRPC, PROCESS],
  [TRACING]: [...CONFIGURED, METRICS],
  'src/money': [BASE],
  'src/auth': [...CONFIGURED, GRPC, 'protos/types'],
  'src/qr': [BASE],
  'src/quotes': [BASE, 'src/money', 'src/qr'],
  'src/limits': [BASE, 'src/money', 'src/qr'],
  'src/api': [BASE, 'src/qr', 'protos/types'],
  'src/ledger': [BASE, 'src/money'],
  actors: [BASE, 'src/money', 'src/ledger'],
  'actors/intent': [BASE, 'src/money', 'src/ledger', 'src/qr', 'src/quotes', 'actors'],
  'actors/payout': [BASE, 'src/money', 'src/ledger', 'actors'],
  'actors/webhook': [
    ...[BASE, SETTINGS, GRPC, PROCESS, METRICS, TRACING, 'src/auth', 'src/bus', ...DATABASE],
    ...[POSTGRES, 'protos/types', 'actors'],
  ],
  'src/bus': [BASE, SETTINGS],
  'src/screening': [...CONFIGURED, GRPC, 'protos/types'],
  'src/screening/sandbox': [
    ...[BASE, SETTINGS, GRPC, PROCESS, 'src/auth', 'src/screening', 'protos/types'],
  ],
  'src/rails': [...CONFIGURED, GRPC, 'src/money', 'src/auth', 'src/qr', 'protos/types'],
  'src/rails/check': [
    ...[BASE, FILES, SETTINGS, GRPC, PROCESS, 'src/auth', 'src/rails', 'protos/types'],
  ],
  'src/rails/adapter': [
    ...[BASE, SETTINGS, GRPC, PROCESS, METRICS, TRACING, 'src/auth', 'src/rails', ...DATABASE],
    'protos/types',
  ],
  'src/rails/iso20022': [
    ...[BASE, FILES, SETTINGS, 'src/money', 'src/auth', 'src/rails', 'src/rails/adapter'],
    ...DATABASE,
  ],
  'src/rails/switch': [...CONFIGURED, PROCESS, 'src/rails', 'src/rails/iso20022'],
  'src/rails/sandbox': [
    ...[BASE, SETTINGS, PROCESS, 'src/auth', 'src/rails', 'src/rails/adapter', ...DATABASE],
  ],
  [CONNECTION]: [DIALECT],
  [SQLITE_DRIVER]: [BASE, CHECKPOINTS, CONNECTION, DIALECT],
  [DATABASE_COPY]: DATABASE,
  [CHECKPOINTS]: [],
  [COPIED_BOOKS]: [CONNECTION],
  [DIALECT]: [],
  'src/store': [BASE, CONNECTION, DIALECT],
  [SQLITE]: [BASE, 'src/store', COPIED_BOOKS, ...DATABASE, DIALECT],
  [POSTGRES]: [BASE, PROCESS, 'src/store', COPIED_BOOKS, SQLITE, ...DATABASE, DIALECT],
  [CLUSTER]: [BASE, 'src/store', POSTGRES, CONNECTION, DIALECT],
  'src/processor': [
    ...[BASE, FILES, SETTINGS, 'src/money', 'src/auth', 'src/qr', 'src/quotes', 'src/limits'],
    ...['src/ledger', GRPC, PROCESS, METRICS, TRACING, 'src/api', 'actors', 'actors/intent'],
    ...['actors/payout', 'src/bus', 'src/rails', 'src/screening', 'protos/types', 'src/store'],
    ...[SQLITE, ...DATABASE, POSTGRES, CLUSTER],
  ],
  gateway: [
    ...[BASE, SETTINGS, GRPC, PROCESS, METRICS, TRACING, 'src/money', 'src/auth', 'src/api'],
    'protos/types',
  ],
  'src/supervisor': [
    ...[BASE, FILES, SETTINGS, GRPC, PROCESS, METRICS, 'src/auth', 'src/bus', 'src/rails'],
    ...['src/rails/switch', ...DATABASE, 'protos/types'],
  ],
  'src/trial_cluster': [...CONFIGURED, GRPC, PROCESS, 'src/auth', 'src/supervisor', 'protos/types'],
  'src/client': [],
  'src/reconciliation': [BASE, 'src/money', ...DATABASE],
  'src/operations': [
    ...[BASE, FILES, SETTINGS, PROCESS, GRPC, METRICS, 'src/money', 'src/auth', 'src/qr'],
    ...['src/rails', 'src/rails/adapter', 'src/client', 'src/supervisor', 'src/reconciliation'],
    ...['src/backup', POSTGRES, CLUSTER, ...DATABASE, 'protos/types'],
  ],
  'src/console': [
    ...[BASE, SETTINGS, GRPC, PROCESS, METRICS, 'src/money', 'src/auth', 'actors'],
    ...['actors/intent', 'actors/payout', 'src/operations', 'src/reconciliation', 'protos/types'],
  ],
  'src/audit': [...CONFIGURED, PROCESS, ...DATABASE, POSTGRES, CLUSTER, 'src/supervisor'],
  'src/deploy': [BASE],
  'src/backup': [BASE, FILES, 'src/audit', ...DATABASE, DATABASE_COPY, COPIED_BOOKS, POSTGRES],
  'protos/types': [],
}

/**
 * The folders of large modules, lowest first: a folder imports only from lower ones of its module,
 * so its data flows one way. '.' is the folder's own files.
 */
const RANKS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  gateway: [
    ['http'],
    ['authentication', 'decode', 'docs'],
    ['admission', 'routing', 'upstream'],
    ['local', 'openapi'],
    ['.'],
  ],
  'src/processor': [
    ['keys', 'recovery'],
    ['cache'],
    ['cycle'],
    ['changes', 'master_keys'],
    ['queries'],
    ['commands'],
    ['background', 'cluster'],
    ['servers'],
    ['.'],
  ],
  'actors/webhook': [
    ['delivery'],
    ['store'],
    ['endpoint'],
    ['intake', 'sending'],
    ['control'],
    ['.'],
  ],
  'src/store': [['.'], ['sqlite'], ['postgres'], ['cluster']],
  'src/api': [['checks'], ['.']],
  'src/operations': [
    ['calls'],
    ['cli'],
    ['shards'],
    ['money'],
    ['partners'],
    ['doctor', 'installation', 'operators', 'payments'],
    ['demo'],
    ['.'],
  ],
  'src/console': [['figures', 'html'], ['session'], ['actions', 'pages'], ['.']],
}

/** Drivers and engines, each behind its adapters, so that it can be replaced there. */
const ADAPTERS: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['gateway/http/server.ts', 'gateway/http/request_context.ts'],
  'fast-xml-parser': ['src/rails/iso20022/xml.ts'],
  jose: ['src/rails/iso20022/signature.ts'],
  nats: ['src/bus/nats.ts', 'src/bus/event_stream.ts'],
  pg: ['src/store/postgres/connection.ts'],
  sqlite3: [SQLITE_DRIVER, DATABASE_COPY, 'src/supervisor/data_folder.ts'],
  'sql.js': ['test/simulation/memory_database.ts'],
  xstate: ['actors/'],
}

const inwards: Rule = ({ path, text }) => {
  const module = moduleOf(path)
  if (!isSource(path) || module === undefined) return []
  return importedBy({ path, text })
    .filter((target) => !mayImport(module, target))
    .map((target) => `${module} may not import ${target}`)
}

/** The modules of words and rules. */
const PURE = [
  ...[BASE, 'src/money', 'src/qr', 'src/quotes', 'src/limits', 'src/ledger', 'src/api'],
  ...['actors', 'actors/intent', 'actors/payout'],
]
const INPUT_AND_OUTPUT = /^node:(?:fs|net|https?|http2|tls|dns|child_process|worker_threads)\b/
/** The log's standard output, and the folder of the program. */
const ALLOWED_IN_BASE = ['src/base/log.ts', 'src/base/project_root.ts']

const pure: Rule = ({ path, text }) =>
  isSource(path) && PURE.includes(moduleOf(path) ?? '') && !ALLOWED_IN_BASE.includes(path)
    ? importsOf(text).filter((name) => INPUT_AND_OUTPUT.test(name))
    : []

const upwards: Rule = ({ path, text }) => {
  const from = rankOf(path)
  if (!isSource(path) || from === undefined) return []
  if (from.rank === -1) return [`${from.folder} has no rank in ${from.area}`]
  return importedBy({ path, text })
    .map(rankOf)
    .filter((to) => to !== undefined && to.area === from.area && to.folder !== from.folder)
    .filter((to) => to!.rank >= from.rank)
    .map((to) => `${from.area}: ${from.folder} may not import ${to!.folder}`)
}

/** The ranked folder of a file. Undefined means that its module has no ranks. */
function rankOf(path: string) {
  const area = Object.keys(RANKS).find((each) => path.startsWith(`${each}/`))
  if (area === undefined) return undefined
  const parts = path.slice(area.length + 1).split('/')
  const folder = parts.length === 1 ? '.' : (parts[0] ?? '')
  return { area, folder, rank: RANKS[area]!.findIndex((folders) => folders.includes(folder)) }
}

const throughAdapters: Rule = ({ path, text }) =>
  isSource(path)
    ? importsOf(text)
        .filter((name) => !(ADAPTERS[name] ?? [path]).some((adapter) => path.startsWith(adapter)))
        .map((name) => `${name} is imported by its adapters only`)
    : []

/** Clients that do not check answers of the partner API, and their uses for other servers. */
const UNCHECKED =
  /^(undici(\/.+)?|node:(net|tls|https?|http2))$|gateway\/signing_partner|src\/client\//
const TO_OTHER_PORTS: readonly (readonly [path: string, name: string])[] = [
  ['test/integration/captured_gateway.test.ts', 'node:net'], // the bus
  ['test/integration/single_processes.test.ts', 'node:tls'], // gRPC
  ['test/integration/access_matrix.test.ts', '../gateway/signing_partner.js'], // makes bytes
]

const judgesAnswers: Rule = (file) => {
  const { path, text } = file
  if (!path.startsWith('test/integration/')) return []
  const isAllowed = (name: string): boolean =>
    TO_OTHER_PORTS.some(([at, allowed]) => at === path && allowed === name)
  const reached = valuesOf(text).filter((name) => UNCHECKED.test(name) && !isAllowed(name))
  return [
    ...reached.map((name) => `${name}: call the partner API with test/support/partner`),
    ...linesWhere(file, (line) => /\bfetch\(/.test(line)),
  ]
}

/** The modules of which values are imported. */
const valuesOf = (text: string): string[] => importsOf(text.replace(/^import type .*$/gm, ''))

function mayImport(module: string, target: string): boolean {
  const other = moduleOf(target)
  return other !== undefined && (other === module || (MODULES[module] ?? []).includes(other))
}

function moduleOf(path: string): string | undefined {
  return Object.keys(MODULES)
    .filter((module) => path === module || path.startsWith(`${module}/`))
    .sort((one, other) => other.length - one.length)[0]
}

t.strictSame(
  files
    .filter(({ path }) => isSource(path) && moduleOf(path) === undefined)
    .map(({ path }) => path),
  [],
  'every source file is in a module',
)

checkRules(t, {
  'imports follow the module graph': {
    rule: inwards,
    sample: {
      breaks: [
        file('src/money/a.ts', "import { a } from '../store/store.js'"),
        file('gateway/routing/a.ts', "import type { A } from '../../src/processor/a.js'"),
        file('actors/webhook/a.ts', "import { a } from '../../src/store/store.js'"),
        file('src/rails/client.ts', "import { a } from './sandbox/bank.js'"),
        file('src/qr/a.ts', 'import {', '  a,', "} from '../ledger/plans.js'"),
        file('src/base/a.ts', "const a = await import('../money/money.js')"),
        file('src/operations/a.ts', "import { a } from '../../test/support/stack.js'"),
        file('src/base/a.ts', "export { a } from '../money/money.js'"),
      ],
      keeps: [
        file('src/processor/a.ts', "import { a } from '../../actors/intent/machine.js'"),
        file('actors/webhook/a.ts', "import { a } from '../../src/store/database.js'"),
        file('src/money/a.ts', "import { a } from './b.js'"),
      ],
    },
  },
  'words and rules do no input or output': {
    rule: pure,
    sample: {
      breaks: [
        file('src/base/a.ts', "import { readFileSync } from 'node:fs'"),
        file('actors/intent/a.ts', "import { lookup } from 'node:dns/promises'"),
      ],
      keeps: [
        file('src/base/a.ts', "import { createHash } from 'node:crypto'"),
        file('src/files/a.ts', "import { readFileSync } from 'node:fs'"),
      ],
    },
  },
  'a folder imports only from lower ones of its module': {
    rule: upwards,
    sample: {
      breaks: [
        file('gateway/http/a.ts', "import type { A } from '../routing/route.js'"),
        file('gateway/upstream/a.ts', "import { a } from '../app.js'"),
        file('gateway/decode/a.ts', "import { a } from '../authentication/a.js'"),
        file('gateway/new_folder/a.ts', ''),
        file('src/processor/changes/a.ts', "import { a } from '../commands/intents/a.js'"),
        file('actors/webhook/store/a.ts', "import { a } from '../intake/a.js'"),
        file('src/operations/doctor/a.ts', "import { a } from '../commands.js'"),
      ],
      keeps: [
        file('gateway/upstream/a.ts', "import { a } from '../http/head.js'"),
        file('src/processor/commands/intents/a.ts', "import { a } from '../payouts/b.js'"),
        file('src/processor/main.ts', "import { a } from './servers/command_stream.js'"),
        file('src/money/a.ts', "import { a } from './b.js'"),
      ],
    },
  },
  'integration tests check every answer of the partner API': {
    rule: judgesAnswers,
    sample: {
      breaks: [
        file('test/integration/a.test.ts', "import { Client } from 'undici'"),
        file('test/integration/a.test.ts', "import Pool from 'undici/lib/dispatcher/pool.js'"),
        file('test/integration/a.ts', "import { connect } from '../../src/client/index.js'"),
        file('test/integration/a.ts', "import { roundTrip } from '../gateway/signing_partner.js'"),
        file('test/integration/a.ts', "const { request } = await import('node:http')"),
        file('test/integration/a.ts', 'const answer = await fetch(url)'),
      ],
      keeps: [
        file('test/integration/a.ts', "import { partnerOf } from '../support/partner.js'"),
        file('test/integration/a.ts', "import type { Page } from '../../src/client/index.js'"),
        file('test/gateway/a.ts', "import { connect } from 'node:net'"),
        file('test/integration/captured_gateway.test.ts', "import { connect } from 'node:net'"),
      ],
    },
  },
  'a driver is imported by its adapters only': {
    rule: throughAdapters,
    sample: {
      breaks: [
        file('gateway/app.ts', "import uWS from 'uWebSockets.js'"),
        file('src/processor/relay.ts', "import { connect } from 'nats'"),
        file('src/store/store.ts', "import sqlite from 'sqlite3'"),
        file('src/processor/a.ts', "import { createActor } from 'xstate'"),
      ],
      keeps: [
        file('gateway/http/server.ts', "import uWS from 'uWebSockets.js'"),
        file('src/processor/main.ts', "import { Agent } from 'undici'"),
      ],
    },
  },
})

t.test('no files import each other in a circle', async (t) => {
  const circle = [
    file('src/a.ts', "import { b } from './b.js'"),
    file('src/b.ts', "import type { C } from './c.js'"),
    file('src/c.ts', "import { a } from './a.js'"),
  ]
  t.same(circleIn(circle), ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts'], 'it is found')
  t.same(circleIn(circle.slice(1)), [])
  t.same(circleIn(files.filter(({ path }) => isSource(path))), [])
})

/** The files of a circle of imports, from one to itself. Empty means that there is none. */
function circleIn(sources: readonly File[]): readonly string[] {
  const imports = new Map(sources.map((source) => [source.path, importedBy(source)]))
  const done = new Set<string>()
  const search = (path: string, above: readonly string[]): readonly string[] => {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of imports.get(path) ?? []) {
      const found = search(next, [...above, path])
      if (found.length > 0) return found
    }
    done.add(path)
    return []
  }
  for (const path of imports.keys()) {
    const found = search(path, [])
    if (found.length > 0) return found
  }
  return []
}

/** The first cells of the table under this head, without their code marks. */
function rowsOf(guide: string, head: string): string[] {
  const text = readFileSync(join(projectRoot(), guide), 'utf8')
  const from = text.indexOf(head)
  const table = text.slice(from, text.indexOf('\n\n', from))
  return [...table.matchAll(/^\| `([^|]*)` \|/gm)].map(([, cell = '']) => cell)
}

/** What the files below a module of src may import, as its row of the developers' page has it. */
function importCellOf(module: string): string {
  const own = `src/${module}`
  const parts = Object.keys(MODULES).filter((each) => each === own || each.startsWith(`${own}/`))
  const targets = parts.flatMap((part) => MODULES[part] ?? [])
  const labels = targets.filter((each) => !each.startsWith(`${own}/`) && each !== own).map(labelOf)
  if (parts.length === 0) return ''
  return labels.length === 0 ? 'nothing of ours' : [...new Set(labels)].join(', ')
}

/** Only the folders of the store have labels of their own. */
function labelOf(target: string): string {
  if (DATABASE.includes(target)) return 'store/database'
  const path = target.replace(/^src\//, '').replace(/\.ts$/, '')
  return path.startsWith('store/') ? path : (path.split('/')[0] ?? '')
}

/** Where the folders of a module are described. */
const FOLDER_TABLES = {
  'src/processor': 'src/README.md',
  'src/store': 'src/README.md',
  'src/operations': 'src/README.md',
  'actors/webhook': 'actors/README.md',
}

t.test('the tables of the guides have every module and every folder', async (t) => {
  const modules = readdirSync(join(projectRoot(), 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  t.same(rowsOf('src/README.md', '| module | owns').sort(), modules.sort())
  const page = readFileSync(join(projectRoot(), 'src/README.md'), 'utf8')
  for (const module of modules) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${module}\` |`)) ?? ''
    t.equal(row.split('|')[3]?.trim(), importCellOf(module), `imports of ${module}`)
  }
  const foldersOf = (area: string): string[] =>
    RANKS[area]!.toReversed()
      .flat()
      .filter((folder) => folder !== '.')
  for (const [area, guide] of Object.entries(FOLDER_TABLES)) {
    const name = area.split('/').at(-1)
    t.same(
      rowsOf(guide, `| folder of \`${name}/\` |`),
      foldersOf(area).map((folder) => `${folder}/`),
      `${area}, highest first`,
    )
  }
  const cells = rowsOf('gateway/DEVELOPING.md', '| Folder | Content |').join(' ')
  for (const folder of foldersOf('gateway')) t.match(cells, `${folder}/`)
})
