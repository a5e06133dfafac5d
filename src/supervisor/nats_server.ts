/**
 * The bundled nats-server: its configuration, password and program.
 *
 * - It listens on loopback only, with a password that is generated at the first start.
 * - It has no IPC channel, so a shell beside it reads a pipe that closes with the supervisor and
 *   then stops the server. The shell execs the server, so the child's process id is the server's.
 * - After a failed write (full disk) nats-server can accept connections and never reply about its
 *   streams, so the liveness probe queries a stream.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadyInfo } from '../process/child.js'
import { SECOND } from '../base/clock.js'
import type { Random } from '../base/random.js'
import { createSecretFile, readTokenFile, writeSecretFile } from '../files/secret_file.js'
import { FILES } from '../base/subjects.js'
import { streamProbe } from '../bus/nats.js'
import { serverVersion } from './server_version.js'
import type { DataFolder } from './data_folder.js'
import type { Program } from './program.js'

const USER = 'causeway'
const PASSWORD_FILE = 'nats.password'
const CONFIGURATION_FILE = 'nats.conf'
const PROBE_TIMEOUT_MS = 5 * SECOND
/**
 * Twice the bound of the stream (bus/event_stream). Without it the limit is a part of the disk that
 * is free at the start, and a server whose limit is below the bound drops the stream.
 */
const STORE_MAX = '4GB'
const STOP_WITH_SUPERVISOR = '(read -r _ <&3; kill -TERM $$ 2>/dev/null) & exec "$0" --config "$1"'

export interface NatsServer {
  /** @param port 0 means any free port */
  program(port: number): Program
  url(port: number): string
}

/** One of the servers of a NATS cluster; its client port must be known before the start. */
export interface NatsClusterMember {
  readonly name: string
  /** The port for connections between servers. */
  readonly port: number
  readonly others: readonly number[]
}

export function natsServer(
  binary: string,
  data: Pick<DataFolder, 'file' | 'folder'>,
  environment: NodeJS.ProcessEnv,
  random: Random,
  member?: NatsClusterMember,
): NatsServer {
  const password = ensurePassword(data.file(PASSWORD_FILE), random)
  const portsFolder = join(data.folder(FILES.natsStore), 'ports')
  const configuration = data.file(CONFIGURATION_FILE)
  const url = (port: number): string => `nats://${USER}:${password}@127.0.0.1:${port}`
  return {
    program: (port) => {
      rmSync(portsFolder, { recursive: true, force: true })
      mkdirSync(portsFolder, { mode: 0o700, recursive: true }) // may be deleted
      const text = configurationText(port, password, data.folder(FILES.natsStore), portsFolder)
      const cluster = member === undefined ? '' : clusterText(member, password)
      writeSecretFile(configuration, text + cluster)
      let probe: (() => Promise<boolean>) | undefined
      return {
        command: '/bin/sh',
        arguments: ['-c', STOP_WITH_SUPERVISOR, binary, configuration],
        environment,
        serverVersion: serverVersion(binary),
        readyWhen: (pid) => portsOf(join(portsFolder, `nats-server_${pid}.ports`)),
        isAlive: (info) => {
          probe ??= streamProbe(url(Number(info['port'])), PROBE_TIMEOUT_MS)
          return probe()
        },
      }
    },
    url,
  }
}

export function ensurePassword(file: string, random: Random): string {
  if (!existsSync(file)) createSecretFile(file, `${random.bytes(24).toString('base64url')}\n`)
  return readTokenFile(file)
}

/** Port -1 means any free port; the server writes the chosen one to a file named after its pid. */
const configurationText = (port: number, password: string, store: string, ports: string): string =>
  `# Written at every start.
host: "127.0.0.1"
port: ${port === 0 ? -1 : port}
ports_file_dir: ${JSON.stringify(ports)}
jetstream { store_dir: ${JSON.stringify(store)}, max_file_store: ${STORE_MAX} }
authorization { user: "${USER}", password: "${password}" }
`

const clusterText = ({ name, port, others }: NatsClusterMember, password: string): string =>
  `server_name: ${JSON.stringify(name)}
cluster {
  name: "causeway"
  listen: "127.0.0.1:${port}"
  authorization { user: "${USER}", password: "${password}" }
  routes: [${others.map((other) => `"nats://${USER}:${password}@127.0.0.1:${other}"`).join(', ')}]
}
`

/** Undefined until the file is complete. */
function portsOf(file: string): ReadyInfo | undefined {
  if (!existsSync(file)) return undefined
  try {
    const { nats } = JSON.parse(readFileSync(file, 'utf8')) as { nats: [string] }
    return { port: Number(new URL(nats[0]).port) }
  } catch {
    return undefined
  }
}
