/**
 * The time of a profile, by stage.
 *
 * Owns: which stage a microsecond belongs to. Does not own: what the stages are (stages).
 *
 * - Every microsecond is in exactly one stage.
 * - A function is of the stage that the table names for it; else of its caller's, as far up as
 *   needed. A library that no caller of ours has called is a stage of its own.
 * - What the table does not know is `other`, with its functions, never left out.
 */
import {
  selfTimes,
  type CpuProfile,
  type Frame,
  type ProfileNode,
  type Span,
} from './cpu_profile.js'
import { CALLER, ENGINE, IDLE, OTHER, UNSEEN, type ProgramStages } from './stages.js'

export interface Attribution {
  readonly stages: ReadonlyMap<string, number>
  /** The longest first. */
  readonly functions: readonly FunctionTime[]
}

export interface FunctionTime {
  readonly name: string
  readonly place: string
  readonly stage: string
  readonly micros: number
}

/** What is known of a frame's callers and of itself. */
interface Standing {
  readonly ours: string | undefined
  /** Where the last frame of ours is. */
  readonly place: string
  readonly library: string
}

const NOWHERE: Standing = { ours: undefined, place: '', library: ENGINE }

export function attribute(
  profile: CpuProfile,
  span: Span,
  everyMicros: number,
  stages: ProgramStages,
): Attribution {
  const { micros, unseenMicros } = selfTimes(profile, span, everyMicros)
  const stageOf = stagesOfNodes(profile.nodes, stages)
  const byStage = new Map<string, number>()
  const byFunction = new Map<string, FunctionTime>()
  for (const { id, callFrame } of profile.nodes) {
    const own = micros.get(id) ?? 0
    if (own === 0) continue
    const stage = stageOf.get(id) ?? OTHER
    byStage.set(stage, (byStage.get(stage) ?? 0) + own)
    const name = callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName
    const place = placeOf(callFrame)
    const key = `${name} ${place} ${stage}`
    const before = byFunction.get(key)?.micros ?? 0
    byFunction.set(key, { name, place, stage, micros: before + own })
  }
  if (unseenMicros > 0) byStage.set(UNSEEN, unseenMicros)
  const functions = [...byFunction.values()].filter(({ stage }) => stage !== IDLE)
  return { stages: byStage, functions: functions.toSorted((one, two) => two.micros - one.micros) }
}

function stagesOfNodes(
  nodes: readonly ProfileNode[],
  stages: ProgramStages,
): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const isChild = new Set(nodes.flatMap(({ children = [] }) => children))
  const found = new Map<number, string>()
  const waiting = nodes
    .filter(({ id }) => !isChild.has(id))
    .map((node) => ({ node, caller: NOWHERE }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, caller } = next
    const standing = standingOf(node.callFrame, caller, stages)
    found.set(node.id, standing.ours ?? standing.library)
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child !== undefined) waiting.push({ node: child, caller: standing })
    }
  }
  return found
}

/** A function without a name is its caller's when both are in one file. */
function standingOf(frame: Frame, caller: Standing, stages: ProgramStages): Standing {
  const place = placeOf(frame)
  const library = stages.library(place, frame.functionName, caller.library)
  const own = stages.ours(place, frame.functionName)
  if (own === undefined) return { ...caller, library }
  const isPart = frame.functionName === '' && place === caller.place
  return { ours: own === CALLER || isPart ? caller.ours : own, place, library }
}

const BUILT = '/.build/'
const INSTALLED = '/node_modules/'

/** As the source tree has it, `<package>/…` with its folder, `node:…`, or empty. */
export function placeOf({ url }: Frame): string {
  const installed = url.lastIndexOf(INSTALLED)
  if (installed >= 0) return url.slice(installed + 1)
  const built = url.indexOf(BUILT)
  return built < 0 ? url : url.slice(built + BUILT.length).replace(/\.js$/, '.ts')
}
