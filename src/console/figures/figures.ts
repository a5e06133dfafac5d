/**
 * The figures of the last 15 minutes, in memory: read from the metrics of the ops ports that
 * CONSOLE_METRICS names, which need no credential.
 *
 * - An ops port that does not answer in time is missing in that reading, and the console goes on.
 * - A DNS name stands for an ops port at each of its addresses, resolved for each reading. If it
 *   has any of IPv4, those of IPv6 are the same processes.
 */
import { isIPv4 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE, SECOND, type Clock } from '../../base/clock.js'
import { joinAddress, splitAddress } from '../../base/network.js'
import { resolveByDns, sharedName, type Resolve } from '../../grpc/processor_addresses.js'
import { readMetrics, type ProcessValues } from './metrics_text.js'
import { processesOn, type ProcessState } from './processes.js'
import { railsOn, type RailState } from './rails.js'
import { pointBetween, type Point, type Reading } from './points.js'
import { writeFaultsOn } from './write_faults.js'

export const KEPT_MS = 15 * MINUTE
export const READ_EVERY_MS = 5 * SECOND
const WITHIN_MS = 2 * SECOND
const METRICS_MAX_BYTES = 16 * 1_024 * 1_024

export interface FiguresState {
  /** False means that no ops port is named. */
  readonly isKnown: boolean
  /** The ops ports that did not answer last. */
  readonly missing: readonly string[]
  /** Oldest first. */
  readonly points: readonly Point[]
  /** Those of the last reading. */
  readonly processes: readonly ProcessState[]
  /** Likewise. */
  readonly rails: readonly RailState[]
  /** Likewise, by shard. */
  readonly writeFaults: ReadonlyMap<string, string>
}

export interface Figures {
  state(): FiguresState
  /** Reads until it is stopped. */
  start(): void
  stop(): void
}

export interface FiguresOptions {
  /** `host:port` of each ops port, or of all behind a name. */
  readonly addresses: readonly string[]
  readonly clock: Clock
  /** Default: DNS. */
  readonly resolve?: Resolve
  /** Default READ_EVERY_MS. */
  readonly everyMs?: number
}

export function createFigures({
  addresses,
  clock,
  resolve = resolveByDns,
  everyMs = READ_EVERY_MS,
}: FiguresOptions): Figures {
  const stopped = new AbortController()
  let points: readonly Point[] = []
  let missing: readonly string[] = []
  let last: Reading | undefined
  let processes: readonly ProcessState[] = []
  let rails: readonly RailState[] = []
  let writeFaults: ReadonlyMap<string, string> = new Map()

  const read = async (): Promise<void> => {
    const opsPorts = (await Promise.all(addresses.map((each) => opsPortsAt(each, resolve)))).flat()
    const answers = await Promise.all(opsPorts.map(scrape))
    const at = clock.now()
    missing = opsPorts.filter((_, i) => answers[i] === null)
    processes = answers.flatMap((found, i) =>
      found === null ? [] : processesOn(opsPorts[i]!, found),
    )
    const answered = answers.filter((found) => found !== null)
    rails = railsOn(answered)
    writeFaults = writeFaultsOn(answered)
    const reading = { at, processes: processesOf(opsPorts, answers) }
    const point = last === undefined ? null : pointBetween(last, reading)
    last = reading
    points = [...points, ...(point === null ? [] : [point])].filter(
      (kept) => kept.at > at - KEPT_MS && kept.at <= at,
    )
  }
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await read()
      await sleep(everyMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {})
    }
  }
  return {
    state: () => ({
      ...{ isKnown: addresses.length > 0, missing, points, processes, rails, writeFaults },
    }),
    start: () => {
      if (addresses.length > 0) void run()
    },
    stop: () => stopped.abort(),
  }
}

/** The name itself while it cannot be resolved in time: it is then missing. */
async function opsPortsAt(address: string, resolve: Resolve): Promise<readonly string[]> {
  const name = sharedName([address])
  if (name === null) return [address]
  const late = sleep(WITHIN_MS, [], { ref: false })
  const all = await Promise.race([resolve(name), late]).catch((): readonly string[] => [])
  const found = all.some(isIPv4) ? all.filter(isIPv4) : all
  const { port } = splitAddress(address)
  return found.length === 0 ? [address] : found.map((host) => joinAddress({ host, port })).sort()
}

/** Two ops ports can have processes of the same name. */
const processesOf = (
  opsPorts: readonly string[],
  answers: readonly (ReadonlyMap<string, ProcessValues> | null)[],
): Reading['processes'] =>
  new Map(
    answers.flatMap((found, i) =>
      [...(found ?? [])].map(([process, values]) => [`${opsPorts[i]} ${process}`, values] as const),
    ),
  )

/** Null means that it did not answer. */
async function scrape(address: string): Promise<ReadonlyMap<string, ProcessValues> | null> {
  try {
    const response = await fetch(`http://${address}/metrics`, {
      signal: AbortSignal.timeout(WITHIN_MS),
    })
    if (!response.ok || response.body === null) return null
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength
      if (size > METRICS_MAX_BYTES) return null
      chunks.push(chunk)
    }
    return readMetrics(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return null
  }
}
