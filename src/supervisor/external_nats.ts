/**
 * Checks that the nats-server at NATS_URL is reachable before anything starts.
 *
 * - The URL may hold a password, so messages name only host and port.
 */
import { connect } from 'node:net'
import { SECOND } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { StartupError, messageOf } from './startup_error.js'

const DEFAULT_PORT = 4_222
const CONNECT_TIMEOUT_MS = 5 * SECOND

export async function requireReachableNats({
  NATS_URL,
}: Pick<Settings, 'NATS_URL'>): Promise<void> {
  if (NATS_URL === '') return
  if (!URL.canParse(NATS_URL))
    throw new StartupError('NATS_URL is not a URL, e.g. nats://host:4222.')
  const { hostname, port } = new URL(NATS_URL)
  const host = hostname.replace(/^\[|\]$/g, '') // IPv6
  const number = port === '' ? DEFAULT_PORT : Number(port)
  await reach(host, number).catch((error: unknown) => {
    const advice = 'start that nats-server, or unset NATS_URL'
    throw new StartupError(
      `Nothing answers at NATS_URL, ${hostname}:${number} (${messageOf(error)}): ${advice}.`,
    )
  })
}

function reach(host: string, port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS }, () => {
      socket.destroy()
      done()
    })
    socket.once('timeout', () => socket.destroy(new Error('timeout')))
    socket.once('error', fail)
  })
}
