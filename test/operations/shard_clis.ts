/** Processors of a test that have a shard each, and the CLI of an operator of them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { withEveryRole } from '../support/callers.js'
import { operatorCli, type OperatorCli } from '../support/operator_cli.js'
import { serveShard, testCluster, type TestCluster } from '../support/served_shard.js'
import { tempFolder } from '../support/temp_folder.js'
import { createWorld } from '../support/world.js'

export const TOKEN = 'op_of_these_tests_only_0123456789'
/** Shared by all tests of the file, as each call of `testdir` empties it. */
export const all = tempFolder(t)
export const BECAUSE = ['--reason', 'a test'] as const

/** A processor that has a shard. @returns its address */
export async function startShard(
  t: Test,
  shard: string,
  shards: readonly string[],
  cluster?: TestCluster,
): Promise<string> {
  const folder = join(all, t.name.replaceAll(/\W/g, '_'), shard)
  mkdirSync(folder, { recursive: true })
  const home = { testdir: () => folder, teardown: t.teardown.bind(t) }
  const world = await createWorld(home)
  const callers = withEveryRole(TOKEN, 'ann')
  const { address } = await serveShard(t, { world, shard, shards, callers, cluster })
  return address
}

/** Processors of these shards, the worlds of their books, and the CLI. */
export async function startCluster(t: Test, shards: readonly string[]) {
  const cluster = testCluster()
  const addresses = await Promise.all(shards.map((shard) => startShard(t, shard, shards, cluster)))
  const worlds = shards.map((shard) => cluster.worlds.get(shard)!)
  return { cluster, addresses, worlds, ops: cliOf(t, addresses) }
}

export function operatorFiles(t: Test): { readonly folder: string; readonly tokenFile: string } {
  const folder = join(all, t.name.replaceAll(/\W/g, '_'))
  mkdirSync(folder, { recursive: true })
  const sandbox = { grpc_address: 'unused:1', brand: 'Service', serves_production: false }
  writeFileSync(join(folder, FILES.sandbox), JSON.stringify(sandbox), { mode: 0o600 })
  const tokenFile = join(folder, FILES.operatorToken)
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 })
  return { folder, tokenFile }
}

export function cliOf(t: Test, processors: readonly string[]): OperatorCli {
  const { folder, tokenFile } = operatorFiles(t)
  return operatorCli(folder, tokenFile, { PROCESSORS: processors.join() })
}

/** The rows of a list as `--json` prints them. */
export type Listed = readonly Readonly<Record<string, string>>[]
