/**
 * Ports that must be free before anything starts.
 *
 * The gateway's own listening would not tell: several gateways share one port, and so would another
 * stack's.
 */
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { SettingName, Settings } from '../base/settings.js'
import { StartupError, sayOf } from './startup_error.js'

type PortName = Extract<SettingName, `${string}_PORT`>

export async function refuseTakenPorts(settings: Settings): Promise<void> {
  const wanted: [PortName, string][] = [
    ['HTTP_PORT', settings.HTTP_HOST],
    ['GRPC_PORT', '127.0.0.1'],
    ['OPS_PORT', '127.0.0.1'],
  ]
  if (settings.NATS_URL === '') wanted.push(['NATS_PORT', '127.0.0.1'])
  refuseTwins(settings, wanted)
  for (const [name, host] of wanted) await tryPort(name, host, settings[name])
}

function refuseTwins(settings: Settings, wanted: readonly [PortName, string][]): void {
  for (const [name] of wanted) {
    const twin = wanted.find(([other]) => other !== name && settings[other] === settings[name])
    if (twin === undefined || settings[name] === 0) continue
    throw new StartupError(`${name} and ${twin[0]} are both ${settings[name]}: each needs its own.`)
  }
}

/** 0 asks the system for a free port, which it then has. */
async function tryPort(name: PortName, host: string, port: number): Promise<void> {
  if (port === 0) return
  try {
    await close(await listen(host, port))
  } catch (error) {
    throw new StartupError(sentence(name, host, port, error))
  }
}

/** For processes that are to share one: a port can be shared only by those who name it. */
export async function freePort(host: string): Promise<number> {
  const server = await listen(host, 0)
  const { port } = server.address() as AddressInfo
  await close(server)
  return port
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

function sentence(name: PortName, host: string, port: number, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    const other = port < 65_000 ? port + 100 : port - 100
    const advice = `stop it, or choose a free one, e.g. ${name}=${other} (0 takes any)`
    return `${name}=${port} is taken by another program: ${advice}.`
  }
  if (code === 'EACCES') return `${name}=${port} needs more rights: choose a port above 1023.`
  return `${name}=${port} cannot be opened on ${host} (${sayOf(error)}).`
}
