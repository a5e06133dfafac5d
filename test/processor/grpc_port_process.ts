/**
 * The processor's gRPC server in a separate process, so that its memory can be measured. Every
 * command is refused as not found. Reports its port, and its RSS on request.
 */
import { systemClock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { createServer } from '../../src/processor/server.js'
import { withEveryRole } from '../support/callers.js'
import type { Work } from '../../src/processor/cycle/command.js'

const [token = ''] = process.argv.slice(2)
const nothing = {} as never
const unheard = (): void => undefined
const server = createServer(
  {
    clock: systemClock,
    random: systemRandom(),
    memory: { partners: new Map([['demo', {}]]) } as never,
    pipeline: {
      submit: ({ reply }: Work) => reply({ ok: false, code: 'payment_intent_not_found' }),
    },
    reader: nothing,
  },
  withEveryRole(token),
  {
    handlers: { WatchPartners: unheard, WatchEndpoints: unheard },
    own: () => ({}),
    close: unheard,
  },
)
process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }))
process.on('disconnect', () => process.exit(0))
process.send?.({ port: await server.bind('127.0.0.1:0') })
