/**
 * A server that cuts the first answer to each Idempotency-Key after some bytes, and gives the next
 * one whole. The key says how: `form-offset-number`.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Examples } from '../../gateway/openapi/examples.js'
import { projectRoot } from '../../src/base/project_root.js'
import { listen } from '../support/listen.js'

const HEAD_END = '\r\n\r\n'

/** A recorded 202 to a payout, and the bodies and framings that a proxy makes of it. */
function answers(): Readonly<Record<string, Buffer>> {
  const file = readFileSync(join(projectRoot(), 'gateway/openapi/examples.json'), 'utf8')
  const recorded = (JSON.parse(file) as Examples).operations['createPayout']?.[0]?.answer
  if (recorded?.status !== 202) throw new Error('the examples have no 202 to a payout')
  const head = (status: string, more: readonly string[]): string =>
    [`HTTP/1.1 ${status}`, 'Content-Type: application/json', ...more].join('\r\n') + HEAD_END
  const body = JSON.stringify(recorded.body)
  const bytes = Buffer.from(body)
  const half = bytes.length >> 1
  const chunkOf = (part: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  const refusal = JSON.stringify({
    error: { code: 'duplicate_payout', message: 'another body', request_id: 'req_1' },
  })
  return {
    length: Buffer.from(head('202 Accepted', [`Content-Length: ${bytes.length}`]) + body),
    chunked: Buffer.concat([
      Buffer.from(head('202 Accepted', ['Transfer-Encoding: chunked'])),
      chunkOf(bytes.subarray(0, half)),
      chunkOf(bytes.subarray(half)),
      Buffer.from('0\r\n\r\n'),
    ]),
    closed: Buffer.from(head('202 Accepted', ['Connection: close']) + body),
    refused: Buffer.from(head('409 Conflict', [`Content-Length: ${refusal.length}`]) + refusal),
  }
}

export interface CuttingServer {
  readonly baseUrl: string
  /** Bytes of each form of answer; each offset below is a cut. */
  readonly lengths: Readonly<Record<string, number>>
  /** Requests so far, by Idempotency-Key. */
  readonly requests: ReadonlyMap<string, number>
  /** Requests that came on a connection whose answer was cut. */
  readonly onDeadConnections: () => number
}

export async function cuttingServer(t: Test): Promise<CuttingServer> {
  const forms = answers()
  const requests = new Map<string, number>()
  const open = new Set<Socket>()
  let onDeadConnections = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy()))
    let isDead = false
    let text = ''
    socket.on('end', () => socket.end())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const end = text.indexOf(HEAD_END)
      const size = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + HEAD_END.length + size) return
      if (isDead) onDeadConnections++
      const key = /^idempotency-key: (\S+)/im.exec(text)?.[1] ?? ''
      text = ''
      const number = (requests.get(key) ?? 0) + 1
      requests.set(key, number)
      const [form = '', offset = ''] = key.split('-')
      const answer = forms[form] ?? Buffer.alloc(0)
      isDead = number === 1
      socket.write(isDead ? answer.subarray(0, Number(offset)) : answer)
      if (isDead || form === 'closed') socket.end()
    })
  })
  const baseUrl = `http://127.0.0.1:${await listen(t, server)}`
  t.teardown(() => open.forEach((socket) => socket.destroy()))
  return {
    baseUrl,
    lengths: Object.fromEntries(Object.entries(forms).map(([name, { length }]) => [name, length])),
    requests,
    onDeadConnections: () => onDeadConnections,
  }
}
