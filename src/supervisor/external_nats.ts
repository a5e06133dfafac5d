/**
 * A nats-server that is not ours must answer before anything starts: the webhook pool would wait
 * for it, and nobody would know why.
 *
 * - The address may hold a password, so only host and port are ever told.
 */
import { connect } from 'node:net'
import { SECOND } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { StartupError, sayOf } from './startup_error.js'

const USUAL_PORT = 4_222
const ANSWER_WITHIN_MS = 5 * SECOND

export async function refuseSilentNats({ NATS_URL }: Pick<Settings, 'NATS_URL'>): Promise<void> {
  if (NATS_URL === '') return
  if (!URL.canParse(NATS_URL))
    throw new StartupError('NATS_URL is no address, e.g. nats://host:4222.')
  const { hostname, port } = new URL(NATS_URL)
  const host = hostname.replace(/^\[|\]$/g, '') // as URLs spell IPv6
  const number = port === '' ? USUAL_PORT : Number(port)
  await reach(host, number).catch((error: unknown) => {
    const advice = 'start that nats-server, or leave NATS_URL empty'
    throw new StartupError(
      `Nothing answers at NATS_URL, ${hostname}:${number} (${sayOf(error)}): ${advice}.`,
    )
  })
}

function reach(host: string, port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS }, () => {
      socket.destroy()
      done()
    })
    socket.once('timeout', () => socket.destroy(new Error('silent')))
    socket.once('error', fail)
  })
}
