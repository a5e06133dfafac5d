/**
 * The bundled PostgreSQL server of a stopped stack, started for a program that reads its books.
 *
 * - A running stack has the lock of its DATA_DIR, and its server runs.
 * - The server listens on a free port and stops with this process.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FILES } from '../base/subjects.js'
import { openDataFolder, type DataFolder } from './data_folder.js'
import { readEnvironment } from './environment.js'
import { freePort } from './ports.js'
import { clusterVersion, findPostgres, postgresServer } from './postgres_server.js'
import { run } from './program.js'
import { StartupError } from './startup_error.js'

export interface StartedStore {
  readonly url: string
  stop(): Promise<void>
}

/** @returns undefined when DATA_DIR has no such server, or its stack runs. @throws StartupError */
export async function startStoppedStore(dataDir: string): Promise<StartedStore | undefined> {
  const own = ['postgres/PG_VERSION', PASSWORD, FILES.storeUrl]
  if (!own.every((name) => existsSync(join(resolve(dataDir), name)))) return undefined
  const data = await unusedFolder(dataDir)
  if (data === undefined) return undefined
  try {
    return await startIn(data)
  } catch (error) {
    await data.release()
    throw error
  }
}

const PASSWORD = 'postgres.password'

async function startIn(data: DataFolder): Promise<StartedStore> {
  const environment = readEnvironment()
  const folder = data.file('postgres')
  const version = clusterVersion(folder)
  const server = postgresServer({
    binaries: findPostgres((program) => environment.find(program), { version }),
    folder,
    within: data.path,
    password: readFileSync(data.file(PASSWORD), 'utf8').trim(),
    environment: environment.forForeign(),
  })
  const port = await freePort('127.0.0.1')
  const running = run(server.program(port), join(data.folder('logs'), 'postgres.log'))
  const start = await running.started
  if (!start.ready) throw new StartupError(`PostgreSQL of the stopped stack ended: ${start.why}`)
  return {
    url: server.url(port),
    stop: async () => {
      await running.stop()
      await data.release()
    },
  }
}

/** Undefined while a stack uses it. */
async function unusedFolder(dataDir: string): Promise<DataFolder | undefined> {
  try {
    return await openDataFolder(dataDir)
  } catch (error) {
    if (error instanceof StartupError) return undefined
    throw error
  }
}
