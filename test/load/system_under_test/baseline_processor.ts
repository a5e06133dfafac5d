/**
 * The baseline's processor: the same commands, machines, ledger and store, without what the design
 * adds. Used by the benchmark and nowhere else.
 *
 * One command is decided and committed at a time, an fsync each; the next one begins when it is
 * answered. Callers reach it by unary calls only. There is no rail, no relay and no nonce: the
 * baseline does less for a create than the service does.
 *
 * `--data-dir DIR` is a new folder; its `sandbox.json` gets the partner's credentials.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { childProcess } from '../../../src/base/child.js'
import { systemClock } from '../../../src/base/clock.js'
import { createLog } from '../../../src/base/log.js'
import { systemRandom } from '../../../src/base/random.js'
import { FILES } from '../../../src/base/subjects.js'
import type { Work } from '../../../src/processor/cycle/command.js'
import { ensureDemo } from '../../../src/processor/commands/partners/demo_ensure.js'
import { createReader } from '../../../src/processor/queries/query.js'
import { createServer } from '../../../src/processor/server.js'
import { directoryService } from '../../../src/processor/servers/directory_stream.js'
import { createAuthInterceptor } from '../../../src/processor/servers/auth_interceptor.js'
import { createWorld, viewOf, type World } from '../../support/world.js'

const { values: flags } = parseArgs({ options: { 'data-dir': { type: 'string' } } })
const folder = flags['data-dir']
if (folder === undefined) throw new Error('--data-dir DIR is missing')
mkdirSync(folder, { recursive: true })

const counted = { commands: 0, commits: 0 }
const world = await createWorld(
  { testdir: () => folder, teardown: () => undefined },
  {
    store: (store) => ({
      ...store,
      commit: (group) => {
        counted.commits += 1
        return store.commit(group)
      },
    }),
  },
)

/** The next one is submitted when the one before has been answered. */
function oneAtATime(given: World): { submit(work: Work): void } {
  const waiting: Work[] = []
  let busy = false
  const next = (): void => {
    const work = waiting.shift()
    busy = work !== undefined
    if (work === undefined) return
    counted.commands += 1
    given.clock.set(systemClock.now())
    given.submit({
      ...work,
      reply: (answer) => {
        work.reply(answer)
        next()
      },
    })
  }
  return {
    submit: (work) => {
      waiting.push(work)
      if (!busy) next()
    },
  }
}

const token = systemRandom().bytes(16).toString('hex')
const guard = createAuthInterceptor(token)
const log = createLog('baseline', { LOG_LEVEL: 'silent' })
const reader = createReader({ lists: world.store.lists, vault: world.vault, brand: 'Service' }, log)
const server = createServer(
  { clock: systemClock, memory: world.memory(), pipeline: oneAtATime(world), reader, auth: guard },
  directoryService(world.memory(), world.vault, guard),
)
const port = await server.bind('127.0.0.1:0')

/** In the form of a stack's metrics page. */
const ops = createHttpServer((_request, response) => {
  response.end(
    `causeway_commands_total ${counted.commands}\ncauseway_commits_total ${counted.commits}\n` +
      'causeway_waiting 0\n',
  )
})
await new Promise<void>((resolve) => ops.listen(0, '127.0.0.1', resolve))
const { port: opsPort } = ops.address() as AddressInfo

const sandbox = {
  base_url: '',
  host: 'api.localhost',
  grpc_address: `127.0.0.1:${port}`,
  internal_token: token,
  ops_url: `http://127.0.0.1:${opsPort}`,
  environment: 'sandbox',
  ...viewOf<object>(await world.run(ensureDemo())),
}
const sandboxFile = join(folder, FILES.sandbox)
writeFileSync(sandboxFile, JSON.stringify(sandbox), { mode: 0o600 })
childProcess({
  stop: async () => {
    ops.closeAllConnections()
    ops.close()
    await server.close()
    await world.close()
  },
})
process.stdout.write(`ready: ${sandboxFile}\n`)
