/** A service that answers as a test scripts, and clients of it. */
import { createServer, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { createClient, type Client, type ClientOptions } from '../../src/client/index.js'
import { listen } from '../support/listen.js'

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** @param number of the request, from 1 */
export type Script = (request: IncomingMessage, number: number) => Reply | 'hang up' | 'stay silent'

export interface ScriptedService {
  readonly baseUrl: string
  readonly requests: readonly IncomingMessage[]
  readonly bodies: readonly string[]
  /** Delays between attempts in milliseconds, for which its clients do not sleep. */
  readonly pauses: readonly number[]
  clientOf(options?: ClientOptions): Client
}

export const PAYOUT = { amount: '1', currency: 'VND', beneficiary_id: 'ben_1', reference: 'r' }
export const BENEFICIARY = {
  type: 'bank_account',
  name: 'Nguyễn Thị Lan',
  destination_country: 'VN',
  currency: 'VND',
  account_number: '0071001234567',
  bank_code: '970436',
} as const

/** @param headers of every answer */
export async function scriptedService(
  t: Test,
  script: Script,
  headers: Readonly<Record<string, string>> = {},
): Promise<ScriptedService> {
  const requests: IncomingMessage[] = []
  const bodies: string[] = []
  const pauses: number[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      bodies.push(text)
      const reply = script(request, requests.length)
      if (reply === 'hang up') return request.socket.destroy()
      if (reply === 'stay silent') return undefined
      const key = request.headers['idempotency-key']
      const echo = typeof key === 'string' ? { 'idempotency-key': key } : {}
      response.writeHead(reply.status, { ...headers, ...echo, ...reply.headers })
      return response.end(reply.status === 204 ? undefined : JSON.stringify(reply.body ?? {}))
    })
  })
  const baseUrl = `http://127.0.0.1:${await listen(t, server)}`
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms)
  const clientOf = (options: ClientOptions = {}): Client =>
    createClient(
      { baseUrl, keyId: 'a_sandbox_2026q4', secret: 'sk' },
      { sleep, random: () => 1, ...options },
    )
  return { baseUrl, requests, bodies, pauses, clientOf }
}
