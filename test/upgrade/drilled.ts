/** What the upgrade drill replaces: a stack, or the trial cluster. */
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { credentialsOf, readSandbox } from '../../src/operations/sandbox.js'
import { createTrialCluster } from '../../src/supervisor/cluster/trial_cluster.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { requestRollingRestart } from '../../src/supervisor/pid_file.js'
import { RUN_FILE } from '../../src/supervisor/stack.js'
import { auditShards } from '../cluster/shard_audit.js'
import { auditOf } from '../support/audit.js'
import { operatorsOf } from '../support/operators.js'
import { environmentOf } from '../support/supervised_stack.js'
import { startStack } from '../support/stack.js'
import { upgradeDrill, type DrillOptions, type DrillResult } from './drill.js'

type Extent = Pick<DrillOptions, 'perSecond' | 'rounds'>

export interface Drilled {
  readonly result: DrillResult
  readonly audit: readonly { readonly clean: boolean; readonly report: string }[]
}

const SETTINGS = { RAIL_DELAY_MS: '50', RATE_LIMIT: 'off' }
const BRAND = 'Service'

export async function drillStack(dataDir: string, extent: Extent): Promise<Drilled> {
  const stack = await startStack({ dataDir, settings: SETTINGS })
  const result = await upgradeDrill({
    ...{ ...extent, dataDir },
    tenants: [[credentialsOf(stack.sandbox, BRAND)]],
    restart: () => requestRollingRestart(join(dataDir, RUN_FILE)),
  }).finally(() => stack.stop())
  return { result, audit: [await auditOf(dataDir)] }
}

/** A partner in each shard, called through both gateways. */
export async function drillCluster(dataDir: string, extent: Extent): Promise<Drilled> {
  const data = await openDataFolder(dataDir)
  const none = (): void => undefined
  const cluster = await createTrialCluster({
    environment: environmentOf({
      ...{ HTTP_PORT: '0', OPS_PORT: '0', CONSOLE: 'off', DATA_DIR: dataDir, ...SETTINGS },
    }),
    ...{ data, clock: systemClock, random: systemRandom() },
    terminal: { info: none, ready: none, error: (line) => console.log(line) },
    onRefused: (why) => console.log(why),
  })
  try {
    await cluster.start()
    const sandbox = readSandbox(data.file(FILES.sandbox))
    const owner = cluster.members().find(({ shard }) => shard === 'books_2')
    const operators = operatorsOf({
      dataDir,
      sandbox: { ...sandbox, grpc_address: owner?.address ?? '' },
    })
    const second = await operators.createPartner('second')
    operators.close()
    const gateways = cluster.members().filter(({ role }) => role === 'gateway')
    const result = await upgradeDrill({
      ...{ ...extent, dataDir },
      tenants: [{}, second].map((key) =>
        gateways.map(({ address: baseUrl }) => ({
          ...{ ...credentialsOf(sandbox, BRAND), ...key, baseUrl },
        })),
      ),
      restart: () => void cluster.restart(),
    })
    const { shards, union } = await auditShards({ url: cluster.postgres.url, dataDir })
    return {
      result,
      audit: [
        ...shards,
        { clean: union.length === 0, report: `union of the shards: ${union.length} faults` },
      ],
    }
  } finally {
    await cluster.stop()
    await data.release()
  }
}
