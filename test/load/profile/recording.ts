/**
 * Profiles of a stack's processes over one window.
 *
 * Owns: the signals to the recorders, the files they leave, the window's edges. Does not own: what
 * a recorder does (recorder), the load.
 *
 * - Recorders begin ahead of the window and end behind it, and what lies outside is cut off: all
 *   processes share the machine's monotonic clock.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../client/client.js'
import type { Watched } from '../measurement/usage.js'
import type { CpuProfile, Span } from './cpu_profile.js'
import { threadTimes, type ThreadTimes } from './threads.js'

export interface Recording {
  /** Tells the edges of the window that it plays. */
  readonly client: Client
  /** Once the window is played. */
  finish(): Promise<Recorded>
}

export interface Recorded {
  readonly span: Span
  readonly processes: readonly RecordedProcess[]
}

export interface RecordedProcess {
  readonly name: string
  readonly profile: CpuProfile
  /** At the edges of the window. */
  readonly threads: { readonly before: ThreadTimes; readonly after: ThreadTimes }
}

interface Edge {
  readonly at: number
  readonly threads: readonly ThreadTimes[]
}

const WITHIN_MS = 30_000
const LOOK_EVERY_MS = 20

/** What a program's Node needs to be recorded into the folder. */
export function recorderOptions(folder: string, everyMicros: number): string {
  const recorder = new URL('./recorder.js', import.meta.url)
  recorder.searchParams.set('folder', folder)
  recorder.searchParams.set('everyMicros', String(everyMicros))
  return `--import=${recorder.href}`
}

export async function beginRecording(
  client: Client,
  watched: readonly Watched[],
  folder: string,
): Promise<Recording> {
  const signal = (): void => watched.forEach(({ pid }) => process.kill(pid, 'SIGUSR2'))
  const left = (ending: string): Promise<readonly string[]> =>
    Promise.all(watched.map((one) => fileLeftBy(one, folder, ending)))
  const edges: Edge[] = []
  const edge = (): void => {
    edges.push({ at: monotonicMicros(), threads: watched.map(threadTimes) })
  }
  signal()
  await left('begun')
  return {
    client: betweenEdges(client, edge),
    finish: async () => {
      signal()
      const profiles = (await left('cpuprofile')).map(profileIn)
      return recorded(watched, profiles, edges)
    },
  }
}

const betweenEdges = (client: Client, edge: () => void): Client => ({
  ...client,
  run: (order, listener) =>
    client.run(order, {
      ...listener,
      opened: () => {
        listener.opened()
        edge()
      },
      closed: () => {
        edge()
        listener.closed()
      },
    }),
})

const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

async function fileLeftBy({ name, pid }: Watched, folder: string, ending: string): Promise<string> {
  const file = join(folder, `${pid}.${ending}`)
  for (let waited = 0; !existsSync(file); waited += LOOK_EVERY_MS) {
    if (waited > WITHIN_MS) throw new Error(`the ${name} is not recorded: there is no ${file}`)
    await pause(LOOK_EVERY_MS)
  }
  return file
}

const profileIn = (file: string): CpuProfile => JSON.parse(readFileSync(file, 'utf8')) as CpuProfile

function recorded(
  watched: readonly Watched[],
  profiles: readonly CpuProfile[],
  [opened, closed]: readonly Edge[],
): Recorded {
  if (opened === undefined || closed === undefined) throw new Error('no window was played')
  const processes = watched.map(({ name }, index) => ({
    name,
    profile: profiles[index]!,
    threads: { before: opened.threads[index]!, after: closed.threads[index]! },
  }))
  return { span: { from: opened.at, to: closed.at }, processes }
}
