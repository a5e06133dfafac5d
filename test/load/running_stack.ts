/**
 * The stack or trial cluster that runs in DATA_DIR, as a load finds it.
 *
 * - In a cluster the demo partner would leave all shards but its own idle: partners of the load are
 *   created where they are wanted.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemRandom } from '../../src/base/random.js'
import { storeUrl } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { connect } from '../../src/client/index.js'
import { credentialsOf, findSandbox, isServing } from '../../src/operations/calls/sandbox.js'
import {
  CLUSTER_FILE,
  type ClusterMember,
  type ClusterRole,
} from '../../src/trial_cluster/cluster_file.js'
import { eventually } from '../support/eventually.js'
import { createPartnerAt, type Key } from '../support/operators.js'
import { addressOf, processesOf, type LoadedShard, type Stack } from './stacks.js'

export type RunningStack = NonNullable<Awaited<ReturnType<typeof runningStack>>>

const ANNOUNCED_WITHIN_MS = 30_000

/**
 * @param placed the shards of the partners that pay; by default one in each
 * @returns undefined: nothing serves there
 */
export async function runningStack(placed = (shards: readonly string[]) => shards) {
  const settings = readSettings()
  const sandbox = findSandbox(settings)
  if (sandbox === undefined || !(await isServing(sandbox))) return undefined
  const dataDir = resolve(settings.DATA_DIR)
  const processes = processesOf(dataDir)
  const file = join(dataDir, CLUSTER_FILE)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '[]'
  const members = (JSON.parse(text) as readonly ClusterMember[]).filter(
    (member) => processes.some(({ pid }) => pid === member.pid), // not of a former cluster
  )
  const ofRole = (wanted: ClusterRole): readonly ClusterMember[] =>
    members.filter(({ role }) => role === wanted)
  const owners = ofRole('processor').filter(({ shard }) => shard !== '')
  const shards = owners.map(({ shard }) => shard).sort()
  const gateways = processes.filter(({ name }) => name.startsWith('gateway')).length
  const isPostgres = members.length > 0 || storeUrl(settings, dataDir) !== ''
  const standby = ofRole('postgres').length > 1
  const isCluster = shards.length > 0
  const created = await createPartners(placed(shards), owners, { sandbox, dataDir })
  const loaded = owners.map(({ name, shard }): LoadedShard => {
    const own = created.filter((partner) => partner.shard === shard)
    return { shard, processor: name, partners: own.map((partner) => partner.name) }
  })
  const [, ...otherGateways] = ofRole('gateway').map(({ address }) => address)
  return {
    addresses: [sandbox.base_url, ...otherGateways].map(addressOf),
    ...{ sandbox, dataDir, store: settings, stop: () => Promise.resolve() },
    partners: isCluster ? created.map(({ key }) => key) : [credentialsOf(sandbox, 'Service')],
    ...(isCluster ? { shards: loaded } : {}),
    processes: () => processesOf(dataDir),
    settings: {
      gateways: String(gateways),
      store: (isPostgres ? 'postgres' : 'sqlite') + (standby ? ', synchronous standby' : ''),
      ...(isCluster ? { shards: loaded.map(sharesOf).join('; ') } : {}),
    },
  }
}

const sharesOf = ({ shard, processor, partners }: LoadedShard): string =>
  `${shard} on ${processor}: ${partners.join(', ') || 'no partner'}`

interface CreatedPartner {
  readonly name: string
  readonly shard: string
  readonly key: Key
}

/**
 * New ones, created at the owners of their shards.
 *
 * @param shards of the partners
 */
async function createPartners(
  shards: readonly string[],
  owners: readonly ClusterMember[],
  { sandbox, dataDir }: Pick<Stack, 'sandbox' | 'dataDir'>,
): Promise<readonly CreatedPartner[]> {
  const created: CreatedPartner[] = []
  for (const shard of shards) {
    const { address } = owners.find((one) => one.shard === shard)!
    const name = `load-${systemRandom().bytes(6).toString('hex')}`
    const key = await createPartnerAt({ sandbox, dataDir }, address, name)
    const partner = connect({ ...credentialsOf(sandbox, 'Service'), ...key })
    const isKnown = async (): Promise<boolean> =>
      (await partner.request('GET', '/v1/balances')).status === 200
    await eventually('the gateway knows the partner', isKnown, ANNOUNCED_WITHIN_MS)
    created.push({ name, shard, key })
  }
  return created
}
