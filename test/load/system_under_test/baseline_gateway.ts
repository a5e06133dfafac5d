/**
 * The baseline's gateway: the real one, but that each command is a unary call of its own. Used by
 * the benchmark and nowhere else. It serves creates of intents only.
 *
 * `--processor FILE` is the `sandbox.json` of the baseline's processor.
 */
import { parseArgs } from 'node:util'
import { CHANNEL_OPTIONS, channelCredentials } from '../../../gateway/upstream/channel.js'
import { watchDirectory } from '../../../gateway/authentication/partner_directory.js'
import { createGateway } from '../../../gateway/gateway.js'
import { createMetrics } from '../../../gateway/metrics.js'
import type { ProcessorClient } from '../../../gateway/upstream/processor_client.js'
import type { ProtoGrpcType } from '../../../protos/types/intents.js'
import { childProcess } from '../../../src/base/child.js'
import { systemClock } from '../../../src/base/clock.js'
import { bearer } from '../../../src/base/internal_token.js'
import { createLog } from '../../../src/base/log.js'
import { contracts } from '../../../src/base/protos.js'
import { systemRandom } from '../../../src/base/random.js'
import { readSettings } from '../../../src/base/settings.js'
import { readSandbox } from '../../../src/operations/sandbox.js'

const { values: flags } = parseArgs({ options: { processor: { type: 'string' } } })
if (flags.processor === undefined) throw new Error('--processor FILE is missing')
const { grpc_address: address, internal_token: token } = readSandbox(flags.processor)

const settings = readSettings()
const log = createLog('baseline', settings)
const metadata = bearer(token)
const { PaymentIntents } = contracts<ProtoGrpcType>().causeway.v1
const intents = new PaymentIntents(address, channelCredentials(), CHANNEL_OPTIONS)
const directory = watchDirectory(address, metadata, log)
let inFlight = 0

const processor: ProcessorClient = {
  submit: ({ tenant = '', create_intent: intent }, waiting) => {
    const cut = tenant.lastIndexOf('_')
    const named = { partner_id: tenant.slice(0, cut), environment: tenant.slice(cut + 1) }
    inFlight += 1
    intents.Create({ tenant: named, intent: intent ?? null }, metadata, (error, created) => {
      inFlight -= 1
      if (error) waiting.settle('configuration_error', '', false)
      else waiting.settle('', JSON.stringify(created), false)
    })
  },
  open: true,
  get inFlight() {
    return inFlight
  },
}

const server = createGateway({
  settings,
  directory,
  processor,
  metrics: createMetrics({
    inFlight: () => inFlight,
    streamOpen: () => true,
    directoryFresh: () => directory.fresh,
  }),
  clock: systemClock,
  random: systemRandom(),
  log,
})
const port = await server.listen('127.0.0.1', 0)
await directory.known
childProcess({
  stop: async () => {
    await server.close(0)
    directory.stop()
    intents.close()
  },
})
process.stdout.write(`ready: http://127.0.0.1:${port}\n`)
