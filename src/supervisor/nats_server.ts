/**
 * A nats-server of our own.
 *
 * Owns: its configuration, password and place. Does not own: streams and subjects (bus).
 *
 * - It listens on loopback only and asks for a password that was made at the first start.
 * - It is no child that knows us, so a shell beside it watches a pipe that closes with the
 *   supervisor: when we are killed, it is stopped. The shell becomes the server, so that the
 *   process we know is the server itself.
 * - A server that could not write, because the disk was full, may stand still for good: it runs,
 *   takes connections, and answers nothing about its streams. So it is asked.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadyInfo } from '../base/child.js'
import { SECOND } from '../base/clock.js'
import type { Random } from '../base/random.js'
import { FILES } from '../base/subjects.js'
import { streamProbe } from '../bus/nats.js'
import type { DataFolder } from './data_folder.js'
import type { Program } from './program.js'

const USER = 'causeway'
const PASSWORD_FILE = 'nats.password'
const CONFIGURATION_FILE = 'nats.conf'
const ANSWER_WITHIN_MS = 5 * SECOND
const STOP_WITH_US = '(read -r _ <&3; kill -TERM $$ 2>/dev/null) & exec "$0" --config "$1"'

export interface NatsServer {
  /** How to start it on this port; 0 lets it choose. */
  program(port: number): Program
  url(port: number): string
}

export function natsServer(
  binary: string,
  data: DataFolder,
  environment: NodeJS.ProcessEnv,
  random: Random,
): NatsServer {
  const password = ensurePassword(data.file(PASSWORD_FILE), random)
  const portsFolder = join(data.folder(FILES.natsStore), 'ports')
  const configuration = data.file(CONFIGURATION_FILE)
  const url = (port: number): string => `nats://${USER}:${password}@127.0.0.1:${port}`
  return {
    program: (port) => {
      rmSync(portsFolder, { recursive: true, force: true })
      mkdirSync(portsFolder, { mode: 0o700, recursive: true }) // all of it may have been removed
      const text = configurationText(port, password, data.folder(FILES.natsStore), portsFolder)
      writeFileSync(configuration, text, { mode: 0o600 })
      let probe: (() => Promise<boolean>) | undefined
      return {
        command: '/bin/sh',
        arguments: ['-c', STOP_WITH_US, binary, configuration],
        environment,
        serves: (pid) => portsOf(join(portsFolder, `nats-server_${pid}.ports`)),
        answers: (info) => {
          probe ??= streamProbe(url(Number(info['port'])), ANSWER_WITHIN_MS)
          return probe()
        },
      }
    },
    url,
  }
}

function ensurePassword(file: string, random: Random): string {
  if (!existsSync(file)) {
    writeFileSync(file, `${random.bytes(24).toString('base64url')}\n`, { mode: 0o600 })
  }
  return readFileSync(file, 'utf8').trim()
}

/**
 * -1 is how nats-server spells a free port. It tells the one it took in a file named after its pid.
 */
const configurationText = (port: number, password: string, store: string, ports: string): string =>
  `# Written at every start.
host: "127.0.0.1"
port: ${port === 0 ? -1 : port}
ports_file_dir: ${JSON.stringify(ports)}
jetstream { store_dir: ${JSON.stringify(store)} }
authorization { user: "${USER}", password: "${password}" }
`

/** Undefined until the file is there and whole. */
function portsOf(file: string): ReadyInfo | undefined {
  if (!existsSync(file)) return undefined
  try {
    const { nats } = JSON.parse(readFileSync(file, 'utf8')) as { nats: [string] }
    return { port: Number(new URL(nats[0]).port) }
  } catch {
    return undefined
  }
}
