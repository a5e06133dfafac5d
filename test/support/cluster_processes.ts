/** A PostgreSQL server, a nats-server, the sandbox rail and processors, without a supervisor. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { FILES } from '../../src/base/subjects.js'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from './eventually.js'
import { createNatsServer } from './nats_server.js'
import { startPostgres } from './postgres_server.js'
import { startProcess, type SingleProcess } from './single_process.js'
import { tempFolder } from './temp_folder.js'

export interface ProcessorProcess {
  readonly name: string
  /** `host:port` of its gRPC. */
  readonly address: string
  readonly run: SingleProcess
}

export const says = ({ run }: ProcessorProcess, text: string): Promise<unknown> =>
  eventually(text, () => run.output().includes(text))

export const untilCandidate = ({ name, run }: ProcessorProcess): Promise<unknown> =>
  eventually(`${name} is a candidate`, async () => {
    const answer = await run.readyz().catch(() => undefined)
    return answer?.['mode'] === 'candidate'
  })

/** The processors' token at the rail. */
export const RAIL_TOKEN = 'token-at-the-rail-of-these-tests-only'

/** @param callers of the processors */
export async function startClusterProcesses(
  t: Test,
  callers: readonly string[],
  railSettings: Readonly<Record<string, string>> = {},
) {
  const folder = tempFolder(t)
  const dataDirOf = (name: string): string => {
    const dataDir = join(folder, name)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return dataDir
  }
  const postgres = await startPostgres(t)
  const nats = await createNatsServer(join(folder, 'nats'))
  await nats.start()
  t.teardown(() => nats.kill())
  const railAddress = `127.0.0.1:${await freePort('127.0.0.1')}`
  const rail = await startProcess(t, 'src/rails/sandbox/main.js', {
    DATA_DIR: dataDirOf('rail'),
    RAIL_LISTEN: railAddress,
    CALLERS: callerEntry('processor', 'processor', RAIL_TOKEN),
    ...railSettings,
  })
  await rail.untilReady()
  return {
    ...{ folder, postgres, nats, rail, railAddress, dataDirOf },
    /** Starts a processor, which runs until the end of the file. */
    start: async (
      name: string,
      settings: Readonly<Record<string, string>>,
      port?: number,
    ): Promise<ProcessorProcess> => {
      const grpcPort = port ?? (await freePort('127.0.0.1'))
      const run = await startProcess(t, 'src/processor/main.js', {
        DATA_DIR: dataDirOf(name),
        STORE_URL: postgres.url,
        MASTER_KEY_FILE: join(folder, FILES.masterKey),
        PROCESSOR_NAME: name,
        GRPC_PORT: String(grpcPort),
        RAIL_ADDRESS: railAddress,
        RAIL_TOKEN,
        NATS_URL: nats.url,
        CALLERS: callers.join(),
        ...settings,
      })
      return { name, address: `127.0.0.1:${grpcPort}`, run }
    },
  }
}
