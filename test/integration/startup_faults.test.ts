/** A single process with invalid settings exits with code 1 and one sentence. */
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { freePort } from '../../src/supervisor/ports.js'
import { createAuthority, writeTlsFiles } from '../support/certificates.js'
import { eventually } from '../support/eventually.js'
import { runProcess, startProcess } from '../support/single_process.js'
import { tempFolder } from '../support/temp_folder.js'

const RAIL_TOKEN = 'token-of-the-processor-at-the-rail'
const folder = tempFolder(t)
const missing = join(folder, 'missing.pem')
const ca = createAuthority()
const port = async (): Promise<string> => String(await freePort('127.0.0.1'))
const NATS_URL = `nats://127.0.0.1:${await port()}`

/** Valid settings of each program. */
const PROGRAMS: Readonly<Record<string, NodeJS.ProcessEnv>> = {
  'gateway/main.js': { HTTP_PORT: await port() },
  'src/processor/main.js': { NATS_URL, GRPC_PORT: await port() },
  'actors/webhook/main.js': { NATS_URL },
  'src/rails/sandbox/main.js': { RAIL_LISTEN: `127.0.0.1:${await port()}` },
}

async function failsWith(t: Test, entry: string, settings: NodeJS.ProcessEnv, sentence: RegExp) {
  const own = { DATA_DIR: folder, OPS_PORT: await port(), ...PROGRAMS[entry] }
  const { exitCode, err } = await runProcess(entry, { ...own, ...settings })
  t.equal(exitCode, 1, entry)
  t.match(err, sentence, entry)
  t.match(err, /^[^\n]+\n$/, `${entry}: one line`)
}

for (const entry of Object.keys(PROGRAMS)) {
  t.test(entry, async (t) => {
    await failsWith(t, entry, { LOG_LEVEL: 'loud' }, /^LOG_LEVEL=loud is not allowed: /)
    const files = writeTlsFiles(folder, 'own', ca.issue('own'), ca)
    const withoutCertificate = { ...files, GRPC_TLS_CERT_FILE: missing }
    await failsWith(t, entry, withoutCertificate, /^GRPC_TLS_CERT_FILE cannot be read: .*missing/)
  })
}

t.test('a gateway without its certificate', async (t) => {
  const settings = { TLS_CERT_FILE: missing, TLS_KEY_FILE: missing }
  await failsWith(t, 'gateway/main.js', settings, /missing\.pem .*cannot be used as a certificate/)
})

t.test(
  'a single processor does not serve production with the sandbox rail unless that is allowed',
  async (t) => {
    const MASTER_KEY_FILE = join(folder, 'master.key')
    writeFileSync(MASTER_KEY_FILE, `own:${'07'.repeat(32)}\n`, { mode: 0o600 })
    const RAIL_ADDRESS = `unix:${join(folder, 'rail.sock')}`
    await startProcess(t, 'src/rails/sandbox/main.js', {
      DATA_DIR: folder,
      RAIL_LISTEN: RAIL_ADDRESS,
      CALLERS: callerEntry('processor', 'processor', RAIL_TOKEN),
    })
    const entry = 'src/processor/main.js'
    const production = {
      ...{ DATA_DIR: folder, MASTER_KEY_FILE, RAIL_ADDRESS, RAIL_TOKEN },
      ...{ PRODUCTION_HOSTS: 'api.example', LOG_LEVEL: 'silent' },
    }
    await failsWith(
      ...([t, entry, production] as const),
      /^PRODUCTION_HOSTS is set, but the only rail is the sandbox, .*_IN_PRODUCTION=yes/,
    )
    const told = await startProcess(t, entry, {
      ...PROGRAMS[entry],
      ...production,
      ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes',
    })
    await told.untilReady()
    await eventually('the rail is linked', async () =>
      JSON.stringify(await told.readyz()).includes('"rail":"up"'),
    )
    t.equal(await told.end(), 0, told.output())
  },
)
