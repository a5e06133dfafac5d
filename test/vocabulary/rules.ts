/**
 * The words this project does not use, and where an old one stays because it is stored.
 *
 * The list of words is a contract with the reader: each has a standard term beside it.
 */

/** A word that is retired, and the standard term. */
type Retired = Readonly<Record<string, string>>

/** Parts of identifiers and of file names: `keyPrint` has the parts `key` and `print`. */
const PARTS: Retired = {
  beats: 'steps',
  burn: 'consume',
  burns: 'consumes',
  burnt: 'consumed',
  chance: 'random',
  clerk: 'control handler',
  consequence: 'output',
  consequences: 'outputs',
  desk: 'context, control stream',
  exposition: 'metrics',
  fate: 'commit outcome',
  handover: 'submit',
  horizon: 'watermark',
  janitor: 'retention',
  keeper: 'managed process',
  keepers: 'managed processes',
  lane: 'queue key, traffic class, endpoint queue, connection',
  lanes: 'queues, traffic classes, connections',
  mortal: 'crashable processor',
  narrator: 'output',
  news: 'report',
  oddities: 'mismatches',
  oddity: 'mismatch',
  parcel: 'request',
  parcels: 'requests',
  prints: 'fingerprints',
  pulse: 'sample, liveness probe',
  reckoning: 'final checks',
  reseal: 'reencrypt',
  room: 'capacity',
  rooms: 'modules',
  shelf: 'row cache',
  shelves: 'row caches',
  troubles: 'faults',
  whom: 'the party by name',
  witness: 'checker',
  woken: 'resumed',
}

/** Neighbouring parts. */
const PAIRS: Retired = {
  'ask again': 'inquire again',
  'ask back': 'request recall',
  'ask often': 'probe',
  'can ask': 'can inquire',
  'delivery desk': 'webhook control',
  'fair line': 'fair queue',
  'give back': 'refund, reverse',
  'hand over': 'submit',
  'handed over': 'submitted',
  'key print': 'key fingerprint',
  'paced refusals': 'rejection throttle',
  'play money': 'test funds',
  'reading line': 'read scheduler',
  'set aside': 'corrupt',
  'slice max': 'chunk max',
  'standing queue': 'load shedder',
  'turns away': 'rejects early',
  'user print': 'user fingerprint',
}

/** Whole names of files, without what comes after the first dot. */
const FILES: Retired = {
  bounds: 'constants',
  exchange: 'command_stream, request_context',
  forms: 'wire_validators',
  measures: 'metrics',
  mixture: 'workload_mix',
  problem: 'error_response',
  stories: 'scenarios',
  story: 'demo_scenario',
  tidy: 'house_rules',
}

/** In comments, texts and documents. */
const PHRASES: readonly (readonly [phrase: RegExp, term: string])[] = [
  [/\bcan not\b/i, 'cannot'],
  [/\bplay money\b/i, 'test funds'],
  [/\bhand(?:ed|ing|s)?[ -]over\b/i, 'submit'],
  [/\bgive[ns]?[ -]back\b/i, 'refund, reverse, release'],
  [/\b(?:delivery )?desk\b/i, 'context, control stream'],
  [/\bburn(?:s|t|ed|ing)?\b/i, 'consume'],
  [/\blanes?\b/i, 'queue, traffic class'],
  [/\bnews\b/i, 'report'],
  [/\boddit(?:y|ies)\b/i, 'mismatch'],
  [/\bconsequences?\b/i, 'output'],
  [/\b(?:wake-ups?|woken)\b/i, 'timer'],
  [/\b(?:clerk|janitor|narrator|keepers?|shelf|shelves|parcels?|mortal)\b/i, 'the standard term'],
  [/\b(?:key|user) prints?\b/i, 'fingerprint'],
  [/\bstanding queue\b/i, 'load shedder'],
  [/\b(?:the life of|the lives of)\b/i, 'lifecycle'],
  [/\b(?:five|last) beats?\b/i, 'step'],
  [/\bwhat holds\b/i, 'guarantees'],
  [/\bby chance\b/i, 'at random'],
  [/\b(?:whoever|somebody|anybody|everybody)\b/i, 'name the caller, the process or the role'],
  [/\bnobody [a-z]/i, 'no process, no client'],
  [/\bstrangers?\b/i, 'unauthenticated client'],
  [/\banew\b/i, 'again'],
  [/\bbehind (?:its|the \w+'s) back\b/i, 'direct access, concurrently'],
  [/\bin its turn\b/i, 'then'],
  [/\bwhom\b/i, 'name the request or the process'],
  [/\b(?:somebody|whoever|heard|strangers?|judgements?)\b/i, 'name the process or the check'],
  [/\bnext to nothing\b/i, 'a number'],
  [/\b(?:a|the|its|gateway's) doors?\b/i, 'transport, adapter, entry point'],
  [/\brooms?\b/i, 'capacity, modules'],
  [/\b(?:met|meets) a bug\b/i, 'failed'],
  [/\b(?:behaviour|honour|favour|spelt|authoris|recognis|normalis)/i, 'American spelling'],
]

/** A place is the shard of a partner; in the names of all other files it had six more meanings. */
const PLACE = /^places?$/
const OF_PLACEMENTS = [
  'src/audit/checks/union.ts',
  'src/audit/cluster_export.ts',
  'src/audit/union.ts',
  'src/processor/cluster/',
  'src/processor/server.ts',
  'src/processor/servers/placed_',
  'src/processor/servers/shards.ts',
  'src/store/cluster/',
  'test/audit/union.test.ts',
  'test/cluster/',
  'test/model/ownership/',
  'test/processor/placed_partner.test.ts',
  'test/store/cluster.test.ts',
  'test/support/served_shard.ts',
]
/**
 * Types with these bare names had up to seven meanings. Each has one now, in this file; all others
 * say which stream or call they are.
 */
const BARE_TYPES: Readonly<Record<string, string>> = {
  Call: '',
  Stream: '',
  Command: 'src/processor/cycle/command.ts',
  Page: 'src/client/pagination.ts',
}
const DECLARED_TYPE = /^(?:export )?(?:interface|type|class) (\w+)/gm

/** What a line says beside its names: comments and texts. */
const NOT_NAMES = /\/\/.*|\/?\*.*|'[^']*'|"[^"]*"|`[^`]*`/g

/** The first line of a doc comment, and of a comment above a member of a proto. */
const NO_SUBJECT = /\/\*\*\s*(?:\*\s*)?Of [\w`]/g
const ABSENT = /(?:null|undefined|empty|absent|true|false|(?<!`)0)/.source
/** `x; null: y` or `null: y`, at the end of a code line or in a line of its own. */
const TELEGRAM = new RegExp(
  `^.*(?://|\\*) (?!.*@description)(?:.*[;.,:] |@\\w+ \\w+ )?\`?${ABSENT}\`?: `,
  'gim',
)
const NO_SUBJECT_IN_PROTO = /(?<!\/\/.*\n) *\/\/ Of [\w`]/g

/** A rule that only this file knows, such as `R1.`, means nothing elsewhere. */
const LABEL = /^\s*(?:\*|\/\/)\s+[A-Z]\d{1,2}\. /

/** Names that are stored or that others wrote: each with its reason. */
export const STORED_NAMES: Readonly<Record<string, string>> = {
  handedOverAt: 'member of stored intent and payout contexts: the mark of a submission',
  idempotency_prints: 'table',
  prints: 'column of idempotency_prints and intent_users',
  wakeAt: 'member of stored intent and payout contexts',
  HANDOVER_TTL_S: 'the old name of a setting, read for one version',
}

/** Members of stored contexts: names in memory are others (actors/stored_context). */
const STORED_MEMBERS = ['handedOverAt', 'wakeAt']
const CAST_TO_CONTEXT = /\bas (?:Intent|Payout)Context\b(?!\[)/g
const READS_STORED_CONTEXTS = ['actors/stored_context.ts', 'src/store/', 'src/audit/', 'test/']

/** Files that hold a retired word because they name it. */
const EXEMPT = [
  'test/vocabulary/',
  'test/vocabulary.test.ts',
  'test/settings/renamed_settings.test.ts',
  'CHANGELOG.md',
  'src/store/sqlite/schema/',
  'actors/webhook/store/schema/',
  'src/rails/sandbox/schema/',
]

export interface TextFile {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}

/** @returns one line for each retired word, empty when there is none */
export function retiredIn(file: TextFile): readonly string[] {
  if (EXEMPT.some((path) => file.path.startsWith(path))) return []
  const isCode = /\.(?:ts|mjs)$/.test(file.path)
  const inText = file.text
    .split('\n')
    .flatMap((line, i) => inLine(line, isCode).map((found) => `line ${i + 1}: ${found}`))
  const inCode = isCode ? [...placesIn(file), ...bareTypesIn(file)] : []
  const isCommented = isCode || file.path.endsWith('.proto')
  const inComments = isCommented ? fragmentsIn(file) : []
  return [...inPath(file.path), ...inText, ...inCode, ...inComments, ...storedMembersIn(file)]
}

function storedMembersIn({ path, text }: TextFile): string[] {
  if (READS_STORED_CONTEXTS.some((of) => path.startsWith(of))) return []
  const names = STORED_MEMBERS.filter((name) => text.includes(name))
  const casts = text.match(CAST_TO_CONTEXT) ?? []
  return [...names, ...casts].map((found) => `${found}: as actors/stored_context reads it`)
}

/** Comments that are no sentences. */
function fragmentsIn({ path, text }: TextFile): string[] {
  const noSubject = path.endsWith('.proto') ? NO_SUBJECT_IN_PROTO : NO_SUBJECT
  const found = (pattern: RegExp, rule: string): string[] =>
    [...text.matchAll(pattern)].map(([comment]) => `${comment.trim()}: ${rule}`)
  return [
    ...found(noSubject, 'a sentence with a subject: "The roles of an operator."'),
    ...found(TELEGRAM, 'a sentence: "Null means that …"'),
  ]
}

function bareTypesIn({ path, text }: TextFile): string[] {
  return [...text.matchAll(DECLARED_TYPE)]
    .map(([, name = '']) => name)
    .filter((name) => Object.hasOwn(BARE_TYPES, name) && BARE_TYPES[name] !== path)
    .map((name) => `${name}: a name that says which one`)
}

function placesIn({ path, text }: TextFile): string[] {
  if (OF_PLACEMENTS.some((of) => path.startsWith(of))) return []
  const names = text
    .split('\n')
    .flatMap((line, i) =>
      (line.replace(NOT_NAMES, '').match(/[A-Za-z_$][\w$]*/g) ?? [])
        .filter((name) => partsOf(name).some((part) => PLACE.test(part)))
        .map((name) => `line ${i + 1}: ${name}: index, position, slot, field, address`),
    )
  return [...new Set(names)]
}

function inPath(path: string): string[] {
  return path.split('/').flatMap((name) => {
    const [bare = ''] = name.split('.')
    const whole = FILES[bare]
    return whole === undefined ? inName(bare) : [`file name ${bare}: ${whole}`]
  })
}

function inLine(line: string, isCode: boolean): string[] {
  const phrases = PHRASES.filter(([phrase]) => phrase.test(withoutStored(line))).map(
    ([phrase, term]) => `${String(phrase.exec(line)?.[0])}: ${term}`,
  )
  if (!isCode) return phrases
  const labels = LABEL.test(line) ? ['a label that only this file knows: a plain bullet'] : []
  const names = line.match(/[A-Za-z_$][\w$]*/g) ?? []
  const found = names.filter((name) => !Object.hasOwn(STORED_NAMES, name)).flatMap(inName)
  return [...new Set([...phrases, ...labels, ...found])]
}

/** A stored name in a sentence is no breach of the sentence. */
function withoutStored(line: string): string {
  return Object.keys(STORED_NAMES).reduce((text, name) => text.replaceAll(name, ''), line)
}

function inName(name: string): string[] {
  const parts = partsOf(name)
  const single = parts.flatMap((part) =>
    Object.hasOwn(PARTS, part) ? [`${name}: ${PARTS[part]}`] : [],
  )
  const pairs = parts.slice(1).flatMap((part, i) => {
    const pair = `${parts[i]} ${part}`
    return Object.hasOwn(PAIRS, pair) ? [`${name}: ${PAIRS[pair]}`] : []
  })
  return [...single, ...pairs]
}

const partsOf = (name: string): string[] =>
  name
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_$]+/)
    .map((part) => part.toLowerCase())
