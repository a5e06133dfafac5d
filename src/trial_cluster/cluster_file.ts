/**
 * `cluster.json` under DATA_DIR: the processes of the trial cluster and their shards.
 *
 * - Replaced atomically, also when a process restarts or a shard changes hands.
 */
import { writeSecretFile } from '../files/secret_file.js'

export const CLUSTER_FILE = 'cluster.json'

export const CLUSTER_ROLES = [
  ...(['gateway', 'processor', 'webhooks', 'rail', 'screening'] as const),
  ...(['nats', 'postgres'] as const),
] as const
export type ClusterRole = (typeof CLUSTER_ROLES)[number]

export interface ClusterMember {
  readonly name: string
  readonly role: ClusterRole
  /** 0 means that it is not running. */
  readonly pid: number
  /** The books that a processor serves, or the schema of a webhook pool; otherwise empty. */
  readonly shard: string
  /** `host:port`; of a gateway its URL. Empty means that it does not listen. */
  readonly address: string
}

export function writeClusterFile(file: string, members: readonly ClusterMember[]): void {
  writeSecretFile(file, `${JSON.stringify(members, null, 2)}\n`)
}
