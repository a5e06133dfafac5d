/** What the upgrade drill replaces: a stack, or the trial cluster. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { FILES } from '../../src/base/subjects.js'
import { startEphemeralStack } from '../../src/operations/demo/ephemeral_stack.js'
import { credentialsOf } from '../../src/operations/calls/sandbox.js'
import { CLUSTER_FILE, type ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import { requestRollingRestart } from '../../src/supervisor/pid_file.js'
import { RUN_FILE } from '../../src/supervisor/stack.js'
import { auditShards } from '../cluster/shard_audit.js'
import { auditOf } from '../support/audit.js'
import { createPartnerAt } from '../support/operators.js'
import { startStack } from '../support/stack.js'
import { upgradeDrill, type DrillOptions, type DrillResult } from './drill.js'
import type { Former } from './former.js'

type Extent = Pick<DrillOptions, 'perSecond' | 'rounds'>

export interface Drilled {
  readonly result: DrillResult
  readonly audit: readonly { readonly clean: boolean; readonly report: string }[]
}

const SETTINGS = { RAIL_DELAY_MS: '50', RATE_LIMIT: 'off' }
const BRAND = 'Service'

/** @param former the programs that run first. Default: those of this checkout */
export async function drillStack(
  dataDir: string,
  extent: Extent,
  former?: Former,
): Promise<Drilled> {
  const root = former === undefined ? {} : { root: former.root }
  const stack = await startStack({ dataDir, settings: SETTINGS, ...root })
  const result = await upgradeDrill({
    ...{ ...extent, dataDir },
    tenants: [[credentialsOf(stack.sandbox, BRAND)]],
    restart: () => restarted(dataDir, former),
  }).finally(() => stack.stop())
  return { result, audit: [await auditOf(dataDir)] }
}

async function restarted(dataDir: string, former: Former | undefined): Promise<void> {
  await former?.replace()
  requestRollingRestart(join(dataDir, RUN_FILE))
}

/** The program of the trial cluster; earlier revisions have it with the supervisor. */
function clusterProgram(root: string): string {
  const path = 'trial_cluster/main.js'
  return existsSync(join(root, '.build/src', path)) ? path : 'supervisor/cluster/main.js'
}

/** A partner in each shard, called through both gateways. */
export async function drillCluster(
  dataDir: string,
  extent: Extent,
  former?: Former,
): Promise<Drilled> {
  const program = clusterProgram(former?.root ?? projectRoot())
  const cluster = startEphemeralStack(dataDir, SETTINGS, former?.root, program)
  try {
    const sandbox = await cluster.ready
    const members = JSON.parse(
      readFileSync(join(dataDir, CLUSTER_FILE), 'utf8'),
    ) as readonly ClusterMember[]
    const owner = members.find(({ shard }) => shard === 'books_2')
    const second = await createPartnerAt({ sandbox, dataDir }, owner?.address ?? '', 'second')
    const gateways = members.filter(({ role }) => role === 'gateway')
    const result = await upgradeDrill({
      ...{ ...extent, dataDir },
      tenants: [{}, second].map((key) =>
        gateways.map(({ address: baseUrl }) => ({
          ...{ ...credentialsOf(sandbox, BRAND), ...key, baseUrl },
        })),
      ),
      restart: () => restarted(dataDir, former),
    })
    const url = readFileSync(join(dataDir, FILES.storeUrl), 'utf8').trim()
    const { shards, union } = await auditShards({ url, dataDir })
    return {
      result,
      audit: [
        ...shards,
        {
          clean: union.length === 0,
          report: [`union of the shards: ${union.length} faults`, ...union].join('\n  '),
        },
      ],
    }
  } finally {
    cluster.process.kill('SIGTERM')
    await cluster.ended
  }
}
