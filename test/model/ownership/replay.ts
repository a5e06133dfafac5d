/**
 * Random traces of the real code, as runs of the model: each step is an action with the outcome and
 * the rows that the server had after it.
 */
import { readFileSync } from 'node:fs'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import { MODEL } from './quint.js'
import {
  KEYS,
  PARTNERS,
  PROCESSES,
  SHARDS,
  type Key,
  type RealOwners,
  type SentCommit,
  type ServerState,
} from './real_owners.js'

export interface Trace {
  /** The steps in Quint. */
  readonly steps: readonly string[]
  readonly outcomes: readonly string[]
}

/** An action of the model, and the same of the real code. */
type Action = readonly [weight: number, text: string, act: () => Promise<string>]

export async function recordTrace(
  real: RealOwners,
  random: SeededRandom,
  count: number,
): Promise<Trace> {
  await real.reset()
  const steps: string[] = []
  const outcomes: string[] = []
  for (let step = 0; step < count; step++) {
    const [text, act] = draw(actionsOf(real, random), random)
    const outcome = await act()
    outcomes.push(outcome)
    steps.push(`.then(${text})`, `.then(${expected(outcome, await real.state())})`)
  }
  return { steps, outcomes }
}

/** The model with a module `replay`, which has a run for each trace. */
export function replayFile(traces: ReadonlyMap<string, readonly string[]>): string {
  const model = readFileSync(MODEL, 'utf8')
  const [constants] = /import ownership\([^)]*\)\.\*/.exec(model) ?? []
  const runs = [...traces].map(
    ([name, steps]) => `  run ${name} = init\n    ${steps.join('\n    ')}`,
  )
  return `${model}\nmodule replay {\n  ${constants}\n${runs.join('\n')}\n}\n`
}

function draw(actions: readonly Action[], random: SeededRandom) {
  let left = random.int(actions.reduce((sum, [weight]) => sum + weight, 0))
  const [, text, act] = actions.find(([weight]) => (left -= weight) < 0)!
  return [text, act] as const
}

/** The possible actions, for random arguments. */
function actionsOf(real: RealOwners, random: SeededRandom): readonly Action[] {
  const process = random.pick(PROCESSES)
  const shard = random.pick(SHARDS)
  const key: Key = { partner: random.pick(PARTNERS), key: random.pick(KEYS) }
  const { partner } = key
  const self = real.owning(process)
  const sent = real.sent()
  const move = { partner, from: random.pick(SHARDS), to: shard }
  const [pending = move] = real.pendingMoves()
  const isHere =
    self !== undefined &&
    (self.rows.some((row) => row.partner === partner) || real.isPlacedIn(partner, self.shard))
  const when = (isPossible: boolean, weight: number): number => (isPossible ? weight : 0)
  const ofSent = (make: (commit: SentCommit) => readonly [string, () => Promise<string>]) =>
    sent.length === 0 ? (['', () => Promise.resolve('')] as const) : make(random.pick(sent))
  const isRepeated = random.once(3)
  const isOwner = self !== undefined
  const isFree = self?.unanswered === undefined
  return [
    [when(!isOwner, 5), `look(${text(process, shard)})`, () => real.look(process, shard)],
    [
      when(!isOwner && real.hasSeen(process, shard), 8),
      `takeOver(${text(process, shard)})`,
      () => real.takeOver(process, shard),
    ],
    [when(isOwner, 1), `end(${text(process)})`, () => real.end(process)],
    [when(isOwner, 1), `heartbeat(${text(process)})`, () => real.heartbeat(process)],
    [
      when(isOwner && isFree, 1),
      `raiseEpoch(${text(process)}, 1)`,
      () => real.raiseEpoch(process, 1),
    ],
    [when(isOwner, 4), `release(${text(process)})`, () => real.release(process)],
    [when(isOwner, 4), `place(${text(process, partner)})`, () => real.place(process, partner)],
    [
      when(isHere && isFree, 12),
      `call(${text(process)}, ${row(key)})`,
      () => real.call(process, key),
    ],
    [
      when(sent.length > 0, 10),
      ...ofSent((commit) => [
        `execute(${commitText(commit)}, ${isRepeated})`,
        () => real.execute(commit, isRepeated),
      ]),
    ],
    [
      when(sent.length > 1, 2),
      ...ofSent((commit) => [`lose(${commitText(commit)})`, () => real.lose(commit)]),
    ],
    [
      when(real.answered(process) !== undefined, 12),
      `answer(${text(process)})`,
      () => real.answer(process),
    ],
    [
      when(isOwner && self.rows.some((each) => each.partner === partner), 3),
      `read(${text(process)}, ${row(key)})`,
      () => real.read(process, key),
    ],
    [when(isOwner, 1), `announce(${text(process)})`, () => real.announce(process)],
    [
      when(move.from !== shard && real.pendingMoves().length === 0, 6),
      `requestMove(${moveText(move)})`,
      () => real.requestMove(move),
    ],
    [when(real.pendingMoves().length > 0, 1), 'expireMove', () => real.expireMove()],
    [
      when(real.pendingMoves().length > 0, 8),
      `transfer(${moveText(pending)})`,
      () => real.transfer(pending),
    ],
  ]
}

const text = (...given: readonly string[]): string => given.map((each) => `"${each}"`).join(', ')
const row = ({ partner, key }: Key): string => `{ partner: "${partner}", key: ${key} }`
const moveText = (move: { partner: string; from: string; to: string }): string =>
  `{ partner: "${move.partner}", from: "${move.from}", to: "${move.to}" }`
const commitText = (commit: SentCommit): string => {
  const { process, shard, epoch, batch } = commit
  const fields = `epoch: ${epoch}, batch: ${batch}, row: ${row(commit)}`
  return `{ process: "${process}", shard: "${shard}", ${fields} }`
}

function expected(outcome: string, { owners, rows, placements }: ServerState): string {
  const ofShards = owners.map(
    ({ epoch, lastBatch, beat, holder }) =>
      `{ epoch: ${epoch}, lastBatch: ${lastBatch}, beat: ${beat}, holder: "${holder}" }`,
  )
  const inShards = rows.map((each) => `[${each.map(row).join(', ')}]`)
  return `is("${outcome}", ${[...ofShards, ...inShards].join(', ')}, ${text(...placements)})`
}
