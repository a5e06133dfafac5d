/** The books of a machine of the drill: files in its DATA_DIR, or its own PostgreSQL server. */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { BASE } from '../../src/backup/server_backup.js'
import { serverIn } from '../support/postgres_server.js'
import { untilStarted } from '../support/program.js'

export interface MachineBooks {
  /** Every process and command of the machine has them. */
  readonly settings: Readonly<Record<string, string>>
  /** Ends the server by SIGKILL. */
  stop(): Promise<void>
}

export type DrillStore = 'sqlite' | 'postgres'

/** @param cluster the folder of the server, new or copied */
export async function booksOf(store: DrillStore, cluster: string): Promise<MachineBooks> {
  if (store === 'sqlite') return { settings: {}, stop: () => Promise.resolve() }
  const server = await serverIn(cluster, 'a password')
  const running = server.run()
  await untilStarted(running)
  let ended: Promise<unknown> | undefined
  return {
    settings: { STORE: 'postgres', STORE_URL: server.url, STORE_SYNC: 'reported' },
    stop: async () => {
      if (ended === undefined) running.kill()
      await (ended ??= running.ended)
    },
  }
}

/** Copies the server of a backup to where it is started, as the guide says. */
export function copyServer(backup: string, cluster: string): void {
  execFileSync('cp', ['-a', join(backup, BASE), cluster])
  chmodSync(cluster, 0o700)
}
