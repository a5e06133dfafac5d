/**
 * Checks that the configured ports are free before anything starts, and finds free ones.
 *
 * - The gateway cannot detect a taken port: gateways share theirs (SO_REUSEPORT), and so would
 *   those of another stack.
 * - The console's default port gives way to another program: its address is in `sandbox.json`.
 */
import { createSocket, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import { SETTINGS, type SettingName, type Settings } from '../settings/settings.js'
import { StartupError, messageOf } from './startup_error.js'

type PortName = Extract<SettingName, `${string}_PORT`>

export async function requireFreePorts(settings: Settings): Promise<void> {
  const wanted: [PortName, string][] = [
    ['HTTP_PORT', settings.HTTP_HOST],
    ['GRPC_PORT', settings.GRPC_HOST],
    ['OPS_PORT', settings.OPS_HOST],
  ]
  if (settings.CONSOLE === 'on' && !hasDefaultConsole(settings)) {
    wanted.push(['CONSOLE_PORT', settings.CONSOLE_HOST])
  }
  if (settings.NATS_URL === '') wanted.push(['NATS_PORT', '127.0.0.1'])
  refuseDuplicates(settings, wanted)
  const taken: PortName[] = []
  for (const [name, host] of wanted) {
    if (!(await isFree(name, host, settings[name]))) taken.push(name)
  }
  if (taken.length > 0) throw new StartupError(takenSentence(settings, taken))
}

/** The port of the console, which this process claims where it was free to choose it. */
export async function consolePort(settings: Settings): Promise<number> {
  const { CONSOLE_HOST, CONSOLE_PORT } = settings
  if (CONSOLE_PORT === 0) return freePort(CONSOLE_HOST)
  if (!hasDefaultConsole(settings)) return CONSOLE_PORT
  const { HTTP_PORT, GRPC_PORT, OPS_PORT, NATS_PORT } = settings
  return portOrFree(CONSOLE_HOST, CONSOLE_PORT, [HTTP_PORT, GRPC_PORT, OPS_PORT, NATS_PORT])
}

const hasDefaultConsole = ({ CONSOLE_PORT }: Settings): boolean =>
  String(CONSOLE_PORT) === SETTINGS.CONSOLE_PORT.fallback

function refuseDuplicates(settings: Settings, wanted: readonly [PortName, string][]): void {
  for (const [name] of wanted) {
    const duplicate = wanted.find(([other]) => other !== name && settings[other] === settings[name])
    if (duplicate === undefined || settings[name] === 0) continue
    throw new StartupError(
      `${name} and ${duplicate[0]} are both ${settings[name]}: each needs its own.`,
    )
  }
}

/** @throws StartupError when it cannot be opened for another reason than a program that has it */
async function isFree(name: PortName, host: string, port: number): Promise<boolean> {
  if (port === 0) return true
  try {
    await close(await listen(host, port))
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') return false
    throw new StartupError(
      code === 'EACCES'
        ? `${name}=${port} needs more privileges: choose a port above 1023.`
        : `${name}=${port} cannot be opened on ${host} (${messageOf(error)}).`,
    )
  }
}

function takenSentence(settings: Settings, names: readonly PortName[]): string {
  const all = names.map((name) => `${name}=${settings[name]}`).join(', ')
  const other = (port: number): number => (port < 65_000 ? port + 100 : port - 100)
  const others = names.map((name) => `${name}=${other(settings[name])}`).join(' ')
  const [found, advice] =
    names.length === 1
      ? ['is taken by another program', 'stop it, or choose another port']
      : ['are taken by other programs', 'stop them, or choose other ports']
  return `${all} ${found}: ${advice}, e.g. ${others} (0: any).`
}

/** Below the kernel's range of ephemeral ports. */
const FIRST_PORT = 15_000
const PORTS = 17_000
/** Spreads the stacks of one machine. */
const STRIDE = 7_919

/**
 * For processes that must bind a port by number, some time later. This process claims it until it
 * ends: no other process that looks for a port is given the same one meanwhile.
 */
export async function freePort(host: string): Promise<number> {
  for (let tried = 0; ; tried++) {
    const port = FIRST_PORT + ((process.pid * STRIDE + lastTried++) % PORTS)
    try {
      await claimPort(host, port)
      return port
    } catch (error) {
      if (tried === PORTS) throw error
    }
  }
}
let lastTried = 0

/** This port, or a free one when a program has it, another stack claims it, or it is reserved. */
export async function portOrFree(
  host: string,
  port: number,
  reserved: readonly number[],
): Promise<number> {
  if (reserved.includes(port)) return freePort(host)
  return claimPort(host, port).then(
    () => port,
    () => freePort(host),
  )
}

async function claimPort(host: string, port: number): Promise<void> {
  const claim = createSocket('udp4').unref()
  try {
    await bindClaim(claim, port)
    await close(await listen(host, port))
  } catch (error) {
    claim.close()
    throw error
  }
}

/** The UDP port of the same number, which nothing here serves; the process's end frees it. */
function bindClaim(claim: Socket, port: number): Promise<void> {
  return new Promise((done, fail) => {
    claim.once('error', fail)
    claim.bind({ address: '127.0.0.1', port, exclusive: true }, () => done())
  })
}

function listen(host: string, port: number): Promise<Server> {
  const server = createServer()
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen({ host, port, exclusive: true }, () => done(server))
  })
}

const close = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done())
  })
