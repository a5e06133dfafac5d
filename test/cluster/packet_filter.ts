/**
 * Partitions of a trial cluster by a packet filter: this process and the cluster run in a network
 * namespace of their own, and nftables drops the packets of a process in both directions.
 *
 * - A process is identified by its control group, which its children inherit.
 * - Only the control groups outlive the namespace; `close` removes them.
 * - Needs root, and unshare, mount, setpriv, ip and nft. They are looked for before the namespaces
 *   are entered, because nothing else works in them: their loopback interface is down.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { findProgram } from '../../src/supervisor/environment.js'
import type { Program } from '../../src/supervisor/program.js'
import type { Partitions } from './partitions.js'

const TOOLS = ['unshare', 'mount', 'setpriv', 'ip', 'nft']
/** The exit code of this program in the namespaces if no packet filter works there. */
const EXIT_NO_FILTER = 125
const MARK = 'CLUSTER_CHAOS_NAMESPACE'
const CGROUPS = '/sys/fs/cgroup'
/** Writes its own process id to a file, then becomes the program. */
const ENTER = 'echo $$ > "$0" && exec "$@"'
const PROBE_WITHIN_MS = 1_000
const CONNECTS = `
  const socket = require('node:net').connect({ host: '127.0.0.1', port: Number(process.argv[1]) })
  socket.on('connect', () => process.exit(0))
  setTimeout(() => process.exit(1), ${PROBE_WITHIN_MS})`

export type Isolation =
  | { readonly isIsolated: true }
  /** Without namespaces, for this reason. */
  | { readonly isIsolated: false; readonly why: string }

/**
 * Runs this program again in namespaces of its own, and ends with its exit code.
 *
 * @returns in the namespaces, or when they or the packet filter are not available
 */
export async function enterNamespaces(path = process.env['PATH'] ?? ''): Promise<Isolation> {
  if (process.env[MARK] !== undefined) {
    delete process.env[MARK]
    return { isIsolated: true }
  }
  const withoutFilter = (why: string): Isolation => ({ isIsolated: false, why })
  if (process.getuid?.() !== 0) return withoutFilter('this needs root')
  const missing = TOOLS.filter((tool) => findTool(tool, path) === undefined)
  if (missing.length > 0) {
    return withoutFilter(`missing: ${missing.join(', ')} (apt-get install nftables iproute2)`)
  }
  const namespaces = ['--net', '--mount', '--']
  if (spawnSync('unshare', [...namespaces, 'true']).status !== 0) {
    return withoutFilter('namespaces are not allowed here')
  }
  const own = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  // It stops when the last descriptor closes: with this process.
  const child = spawn('unshare', [...namespaces, ...own], {
    env: { ...process.env, [MARK]: '1' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const onInterrupt = (): void => undefined // The terminal signals the child too.
  const onTerminate = (): void => void child.kill('SIGTERM')
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onTerminate)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== EXIT_NO_FILTER) process.exit(code ?? 1)
  process.off('SIGINT', onInterrupt)
  process.off('SIGTERM', onTerminate)
  return withoutFilter('nftables does not work here')
}

/** Ends this program, which its parent then runs without namespaces. */
export function leaveNamespaces(): never {
  process.exit(EXIT_NO_FILTER)
}

/** @throws Error with the missing tool */
export async function createPacketFilter(): Promise<Partitions> {
  const nft = toolAt('nft')
  const setpriv = toolAt('setpriv')
  const root = `cluster-chaos-${process.pid}`
  run(toolAt('ip'), ['link', 'set', 'lo', 'up'])
  run(toolAt('mount'), ['-t', 'cgroup2', 'none', CGROUPS])
  mkdirSync(join(CGROUPS, root))
  const groups = new Set<string>()
  const ports = new Map<string, number>()

  const filter = (commands: readonly string[]): void => run(nft, ['-f', '-'], commands.join('\n'))
  const groupOf = (name: string): string => {
    const folder = join(CGROUPS, root, name)
    if (!groups.has(name)) mkdirSync(folder)
    groups.add(name)
    return join(folder, 'cgroup.procs')
  }
  const drop = (name: string, out = '', back = ''): void => {
    groupOf(name)
    const of = `socket cgroupv2 level 2 "${root}/${name}"`
    filter([
      `add rule inet partitions out ${of} ${out} drop`,
      `add rule inet partitions back ${of} ${back} drop`,
    ])
  }
  const heal = (): void => filter(['flush table inet partitions'])
  const close = (): void => {
    for (const folder of [...[...groups].map((name) => join(root, name)), root]) {
      try {
        rmdirSync(join(CGROUPS, folder))
      } catch {
        // a process of a run that failed is still in it
      }
    }
    groups.clear()
  }
  process.once('exit', close)

  filter([
    'add table inet partitions',
    'add chain inet partitions out { type filter hook output priority 0; }',
    'add chain inet partitions back { type filter hook input priority 0; }',
  ])
  const partitions: Partitions = {
    means: 'a packet filter (nftables) in a network namespace',
    route: (_from, to, address) => {
      ports.set(to, Number(address.split(':')[1]))
      return Promise.resolve(address)
    },
    within: (name, program) => inGroup(program, groupOf(name), setpriv),
    cut: (from, to) => {
      const reached = [...ports].filter(([name]) => name.startsWith(to) && name !== from)
      const list = reached.map(([, port]) => port).join(', ')
      const sources = [...groups].filter((name) => name.startsWith(from))
      for (const each of sources) drop(each, `tcp dport { ${list} }`, `tcp sport { ${list} }`)
    },
    isolate: (name) => drop(name),
    heal,
    close,
  }
  await check(partitions, ports, groupOf('probe'))
  return partitions
}

function inGroup(program: Program, group: string, setpriv: string): Program {
  const { account, command } = program
  const as = account && [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', '--']
  const whole = [...(as === undefined ? [] : [setpriv, ...as]), command, ...program.arguments]
  return {
    ...program,
    account: undefined,
    command: '/bin/sh',
    arguments: ['-c', ENTER, group, ...whole],
  }
}

/** @throws Error unless a cut separates processes, and only while it lasts */
async function check(
  { cut, heal }: Partitions,
  ports: Map<string, number>,
  group: string,
): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  ports.set('checked', port)
  const connects = (): boolean => {
    const probe = [process.execPath, '-e', CONNECTS, String(port)]
    return spawnSync('/bin/sh', ['-c', ENTER, group, ...probe]).status === 0
  }
  const before = connects()
  cut('probe', 'checked')
  const meanwhile = connects()
  heal()
  const after = connects()
  server.close()
  ports.delete('checked')
  if (!before || meanwhile || !after) throw new Error('nft does not match control groups')
}

const findTool = (name: string, path: string): string | undefined =>
  findProgram(name, `${path}:/sbin`)

function toolAt(name: string): string {
  const found = findTool(name, process.env['PATH'] ?? '')
  if (found === undefined) throw new Error(`${name} is missing`)
  return found
}

function run(command: string, args: readonly string[], input = ''): void {
  const { status, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr.trim()}`)
}
