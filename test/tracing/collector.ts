/** A collector of spans for tests: a plain HTTP server that takes OTLP/HTTP JSON. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  /** The name of its process: `causeway-gateway`. */
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  /** Empty means that it has none. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startedAt: bigint
  readonly endedAt: bigint
  readonly attributes: Readonly<Record<string, string | boolean>>
  readonly events: readonly string[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isFailed: boolean
}

interface Value {
  readonly stringValue?: string
  readonly intValue?: string
  readonly boolValue?: boolean
}
type KeyValues = readonly { readonly key: string; readonly value: Value }[]
interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: KeyValues
  readonly events?: readonly { readonly name: string }[]
  readonly links?: CollectedSpan['links']
  readonly status: { readonly code?: number }
}
export interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

/** @param statusOf of the answer to each request; null means none is sent */
export async function openCollector(statusOf: () => number | null = () => 200) {
  const spans: CollectedSpan[] = []
  /** The headers of each request. */
  const headers: IncomingHttpHeaders[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const status = request.method === 'POST' && request.url === '/v1/traces' ? statusOf() : 404
      if (status === null) return
      if (status === 200) {
        const text = Buffer.concat(chunks).toString()
        bodies.push(text)
        headers.push(request.headers)
        spans.push(...spansIn(JSON.parse(text) as WireRequest))
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, headers, bodies },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const spansIn = ({ resourceSpans }: WireRequest): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesIn(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(service, span)))
  })

const collected = (service: string, span: WireSpan): CollectedSpan => ({
  service,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  name: span.name,
  kind: span.kind,
  startedAt: BigInt(span.startTimeUnixNano),
  endedAt: BigInt(span.endTimeUnixNano),
  attributes: valuesIn(span.attributes),
  events: (span.events ?? []).map(({ name }) => name),
  links: span.links ?? [],
  isFailed: span.status.code === 2,
})

const valuesIn = (pairs: KeyValues): Record<string, string | boolean> =>
  Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.boolValue ?? '',
    ]),
  )
