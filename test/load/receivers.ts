/** The partner's webhook receivers: a thread (receiver_thread) with a listener per endpoint. */
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Calls } from './receiver_thread.js'

export interface EndpointPlan {
  /** While failures are on: `slow` answers after two seconds, `dead` accepts and never answers. */
  readonly behavior: 'healthy' | 'slow' | 'dead'
  /** Empty means all that are not opt-in. */
  readonly events: readonly string[]
}

type Reply<Name extends keyof Calls> = Awaited<ReturnType<Calls[Name]>>
export type Endpoint = Reply<'register'>[number]
export type Received = Reply<'received'>[number]
export type Arrivals = Reply<'arrivals'>

export function startReceivers() {
  const notices = randomUUID()
  const file = new URL('./receiver_thread.js', import.meta.url)
  const thread = new Worker(file, { workerData: notices })
  /** In the order of the calls. */
  const replies = on(thread, 'message') as AsyncIterator<[unknown]>
  const call =
    <Name extends keyof Calls>(name: Name) =>
    async (...given: Parameters<Calls[Name]>): Promise<Reply<Name>> => {
      thread.postMessage([name, given])
      return ((await replies.next()).value as [Reply<Name>])[0]
    }
  return {
    register: call('register'),
    setFailures: call('setFailures'),
    received: call('received'),
    arrivals: call('arrivals'),
    /** The BroadcastChannel of a WebhookNotice for every ended payment. */
    notices,
    /** Undelivered webhooks become dead letters. */
    stop: async (): Promise<void> => {
      await call('unregister')()
      await thread.terminate()
    },
  }
}
