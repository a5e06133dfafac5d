import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../../src/base/protos.js'
import type { RunResult } from '../report/result.js'
import { attribute } from './attribution.js'
import { selfTimes, type CpuProfile, type ProfileNode } from './cpu_profile.js'
import { sumOf } from './journey_profile.js'
import { COMMON, PROGRAMS, stagesOf } from './stages.js'
import { ENGINES, FILES, kindOf, SAMPLES } from './threads.js'

const BUILT = 'file:///somewhere/.build'
const EVERY = 100

let nodes = 0
/** A function, its own samples, and what it calls. */
type Called = [name: string, url: string, samples: number, ...calls: Called[]]

function aProfile(...calls: readonly Called[]): CpuProfile {
  const all: ProfileNode[] = []
  const samples: number[] = []
  const add = ([functionName, url, count, ...called]: Called): number => {
    const id = ++nodes
    samples.push(...Array.from({ length: count }, () => id))
    const children = called.map(add)
    all.push({ id, callFrame: { functionName, url, lineNumber: 0 }, children })
    return id
  }
  add(['(root)', '', 0, ...calls])
  return { nodes: all, startTime: 0, samples, timeDeltas: samples.map(() => EVERY) }
}

const WHOLE = { from: 0, to: Infinity }
const PIPELINE = `${BUILT}/src/processor/cycle/pipeline.js`
const DATABASE = `${BUILT}/src/store/database.js`
const LIBRARY = 'file:///somewhere/node_modules'

const stagesOfProfile = (calls: readonly Called[], program = 'processor') =>
  Object.fromEntries(
    [...attribute(aProfile(...calls), WHOLE, EVERY, stagesOf(program)).stages].map(
      ([stage, micros]) => [stage, micros / EVERY],
    ),
  )

t.test('a function is of the nearest stage that the table knows', (t) => {
  const calls: Called[] = [
    ['(idle)', '', 7],
    ['(program)', '', 2],
    ['(garbage collector)', '', 3],
    ['processImmediate', 'node:internal/timers', 1,
      ['decideOne', PIPELINE, 4,
        ['decide', `${BUILT}/src/processor/commands/payouts/payout_create.js`, 5,
          ['send', `${BUILT}/actors/payout/actor.js`, 1,
            ['microstep', `${LIBRARY}/xstate/dist/raise.cjs.js`, 6]],
          ['newId', `${BUILT}/src/base/ids.js`, 8]],
        ['signatureFault', PIPELINE, 9]]],
    ['needs', `${BUILT}/src/processor/commands/payouts/payout_create.js`, 10],
  ] // prettier-ignore
  t.same(stagesOfProfile(calls), {
    idle: 7,
    'engine and system': 2,
    'garbage collection': 3,
    'event loop of Node': 1,
    'decide: commands': 4 + 5 + 8,
    'decide: machines': 1 + 6,
    nonce: 9,
    'prefetch and evict': 10,
  })
  t.end()
})

t.test('a library is of its caller, or stands alone', (t) => {
  const http2: Called = ['onread', 'node:internal/http2/core', 2]
  const codec = `${LIBRARY}/@grpc/proto-loader/build/src/index.js`
  const calls: Called[] = [
    ['emit', 'node:events', 1, http2],
    ['flush', `${BUILT}/src/processor/servers/command_stream.js`, 3,
      ['write', `${LIBRARY}/@grpc/grpc-js/build/src/call.js`, 4,
        ['serialize', codec, 5, ['Batch$encode', '', 6]]]],
    ['', DATABASE, 7],
    ['run', DATABASE, 8, ['', DATABASE, 9]],
    ['parse', `${LIBRARY}/leftpad/index.js`, 10],
  ] // prettier-ignore
  t.same(stagesOfProfile(calls), {
    'event loop of Node': 1,
    'gRPC and HTTP/2': 2,
    'write stream': 3 + 4,
    'protobuf writer': 5 + 6,
    'SQLite driver': 7,
    'commit submission': 8 + 9,
    other: 10,
  })
  t.end()
})

t.test('a function without a name is of its caller in the same file', (t) => {
  const exchange = `${BUILT}/gateway/http/request_context.js`
  const cork: Called = ['cork', '', 1, ['', exchange, 2]]
  t.same(stagesOfProfile([['write', exchange, 4, cork]], 'gateway'), { answer: 1 + 2 + 4 })
  t.same(stagesOfProfile([cork], 'gateway'), { 'engine and system': 1, head: 2 })
  t.end()
})

t.test('what no stage has is told with its functions', (t) => {
  const news = `${BUILT}/src/processor/news.js`
  const found = attribute(aProfile(['soon', news, 3]), WHOLE, EVERY, stagesOf('processor'))
  t.same(found.functions, [
    { name: 'soon', place: 'src/processor/news.ts', stage: 'other', micros: 300 },
  ])
  t.end()
})

t.test('every microsecond of the span is in one stage, or unseen', (t) => {
  const made = aProfile(['(idle)', '', 2], ['decideOne', PIPELINE, 3])
  const profile = { ...made, timeDeltas: [100, 900, 150, -2, 5_000] }
  const total = (span: { from: number; to: number }): number => {
    const { stages } = attribute(profile, span, EVERY, stagesOf('processor'))
    return [...stages.values()].reduce((sum, micros) => sum + micros, 0)
  }
  t.equal(total(WHOLE), 100 + 900 + 150 + 5_000)
  t.equal(selfTimes(profile, WHOLE, EVERY).unseenMicros, 700 + 4_800)
  t.equal(total({ from: 101, to: 1_150 }), 900 + 150, 'samples outside of it are left out')
  t.end()
})

t.test('the table names code that is there', (t) => {
  const root = projectRoot()
  for (const place of [COMMON, ...Object.values(PROGRAMS)].flatMap(Object.keys)) {
    const [path = '', name] = place.split('#')
    if (!t.ok(existsSync(join(root, path)), path) || name === undefined) continue
    if (!path.endsWith('.ts')) continue
    const before = '(const |function |^ +(private |protected )?)'
    const declared = new RegExp(`${before}${name}( =|[(:<])`, 'm')
    t.match(readFileSync(join(root, path), 'utf8'), declared, place)
  }
  t.end()
})

t.test('threads are told apart by their names and by what they have read and written', (t) => {
  t.equal(kindOf('v8:ProfEvntProc\n', 'rchar: 0\nwchar: 0\n'), SAMPLES)
  t.equal(kindOf('node\n', 'rchar: 8\nwchar: 16\nsyscr: 9000\n'), ENGINES)
  t.equal(kindOf('node\n', 'rchar: 24\nwchar: 4096\n'), FILES)
  t.end()
})

t.test('the command tells where the time of a payout goes', (t) => {
  const out = t.testdir()
  const main = join(projectRoot(), '.build/test/load/main.js')
  const flags = ['profile', '--quick', '--scenario', 'payouts', '--out', out]
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...flags])
  t.equal(status, 0, stdout.toString() + stderr.toString())
  t.match(stdout.toString(), /processor, main thread +µs a journey +share\n/)
  const file = readdirSync(out).find((name) => /^profile-.*\.json$/.test(name)) ?? ''
  const result = JSON.parse(readFileSync(join(out, file), 'utf8')) as RunResult
  const processes = result.sections[0]?.profile?.processes ?? []
  const names = processes.map(({ name }) => name)
  t.same(names.toSorted(), ['gateway', 'processor', 'rail', 'webhooks'])
  const processor = processes.find(({ name }) => name === 'processor')
  const micros = (part: RegExp): number =>
    sumOf(processor?.stages.filter(({ what }) => part.test(what)) ?? [])
  t.ok(micros(/^decide/) > 0)
  t.ok(micros(/^(commit|rows)/) > 0)
  t.end()
})
