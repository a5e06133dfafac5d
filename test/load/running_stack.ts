/**
 * The stack or trial cluster that runs in DATA_DIR, as a load finds it.
 *
 * - In a cluster the demo partner would leave all shards but its own idle: partners of the load are
 *   created where they are wanted, and their keys are kept in DATA_DIR for the next run.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemRandom } from '../../src/base/random.js'
import { storeUrl } from '../../src/base/settings.js'
import { readSettings } from '../../src/base/settings_reader.js'
import { connect } from '../../src/client/index.js'
import {
  credentialsOf,
  findSandbox,
  isServing,
  type Sandbox,
} from '../../src/operations/sandbox.js'
import { CLUSTER_FILE, type ClusterMember } from '../../src/supervisor/cluster/cluster_file.js'
import { eventually } from '../support/eventually.js'
import { operatorsOf } from '../support/operators.js'
import { addressOf, demoKey, processesOf, type PartnerKey, type Stack } from './stacks.js'

export interface RunningStack extends Stack {
  /** What it consists of, for the report. */
  readonly settings: Readonly<Record<string, string>>
  /** Of a cluster that has an owner for each of them; else empty. */
  readonly shards: readonly string[]
}

const PARTNERS_FILE = 'load_partners.json'
const ANNOUNCED_WITHIN_MS = 30_000

/**
 * @param placed the shards of the partners that pay; by default one in each
 * @returns undefined: nothing serves there
 */
export async function runningStack(
  placed = (shards: readonly string[]) => shards,
): Promise<RunningStack | undefined> {
  const settings = readSettings()
  const sandbox = findSandbox(settings)
  if (sandbox === undefined || !(await isServing(sandbox))) return undefined
  const dataDir = resolve(settings.DATA_DIR)
  const members = membersOf(dataDir)
  const owners = members.filter(({ role, shard }) => role === 'processor' && shard !== '')
  const shards = owners.map(({ shard }) => shard).sort()
  const gateways = members.filter(({ role }) => role === 'gateway')
  const count = processesOf(dataDir).filter(({ name }) => name.startsWith('gateway')).length
  const isPostgres = members.length > 0 || storeUrl(settings, dataDir) !== ''
  const standby = members.filter(({ role }) => role === 'postgres').length > 1
  return {
    address: addressOf(sandbox.base_url),
    otherAddresses: gateways.slice(1).map(({ address }) => addressOf(address)),
    ...{ sandbox, dataDir, store: settings, stop: () => Promise.resolve(), shards },
    partners:
      shards.length === 0
        ? [demoKey(sandbox)]
        : await partnersIn(placed(shards), { owners, sandbox, dataDir }),
    processes: () => processesOf(dataDir),
    settings: {
      gateways: String(count),
      store: (isPostgres ? 'postgres' : 'sqlite') + (standby ? ', synchronous standby' : ''),
      ...(shards.length === 0 ? {} : { shards: shards.join(', ') }),
    },
  }
}

/** Of the cluster that runs now; empty: a stack of one processor. */
function membersOf(dataDir: string): readonly ClusterMember[] {
  const file = join(dataDir, CLUSTER_FILE)
  if (!existsSync(file)) return []
  const members = JSON.parse(readFileSync(file, 'utf8')) as readonly ClusterMember[]
  const running = new Set(processesOf(dataDir).map(({ pid }) => pid))
  return members.filter(({ pid }) => running.has(pid))
}

interface Cluster {
  readonly owners: readonly ClusterMember[]
  readonly sandbox: Sandbox
  readonly dataDir: string
}

/** Several of one shard are different partners. */
async function partnersIn(
  shards: readonly string[],
  { owners, sandbox, dataDir }: Cluster,
): Promise<readonly PartnerKey[]> {
  const file = join(dataDir, PARTNERS_FILE)
  const known = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, PartnerKey>)
    : {}
  const keys: PartnerKey[] = []
  for (const [index, shard] of shards.entries()) {
    const place = `${shard}, ${shards.slice(0, index).filter((one) => one === shard).length + 1}`
    known[place] ??= await create(shard, { owners, sandbox, dataDir })
    writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`, { mode: 0o600 })
    keys.push(known[place])
  }
  return keys
}

/** Creates a partner at the owner of the shard. Resolves when a gateway authenticates it. */
async function create(shard: string, { owners, sandbox, dataDir }: Cluster): Promise<PartnerKey> {
  const owner = owners.find((one) => one.shard === shard)
  if (owner === undefined) throw new Error(`${shard} has no owner`)
  const operators = operatorsOf({ sandbox: { ...sandbox, grpc_address: owner.address }, dataDir })
  const key = await operators.createPartner(`load-${systemRandom().bytes(6).toString('hex')}`)
  operators.close()
  const partner = connect({ ...credentialsOf(sandbox, 'Service'), ...key })
  const isKnown = async (): Promise<boolean> =>
    (await partner.request('GET', '/v1/balances')).status === 200
  await eventually('the gateway knows the partner', isKnown, ANNOUNCED_WITHIN_MS)
  return key
}
