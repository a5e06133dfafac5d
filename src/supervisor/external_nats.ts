/**
 * Checks that a nats-server at NATS_URL is reachable before anything starts.
 *
 * - The URL may hold a password, so messages name only host and port.
 */
import { connect } from 'node:net'
import { SECOND } from '../base/clock.js'
import type { Settings } from '../settings/settings.js'
import { parseBusUrl } from '../bus/bus_server.js'
import { StartupError, messageOf } from './startup_error.js'

const CONNECT_TIMEOUT_MS = 5 * SECOND

export async function requireReachableNats({
  NATS_URL,
}: Pick<Settings, 'NATS_URL'>): Promise<void> {
  if (NATS_URL === '') return
  const address = parseBusUrl(NATS_URL)
  if (address === undefined) throw new StartupError('NATS_URL is not a URL, e.g. nats://host:4222.')
  const tried = address.hosts.map(
    ({ hostname, port }) => reach(hostname.replace(/^\[|\]$/g, ''), port), // IPv6
  )
  await Promise.any(tried).catch((failure: AggregateError) => {
    const hosts = address.hosts.map(({ hostname, port }) => `${hostname}:${port}`).join(', ')
    const advice = 'start that nats-server, or unset NATS_URL'
    throw new StartupError(
      `Nothing answers at NATS_URL, ${hosts} (${messageOf(failure.errors[0])}): ${advice}.`,
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
