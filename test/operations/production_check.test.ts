/** `production check`: each dangerous setting alone, and what it does without a processor. */
import t from 'tap'
import { callerEntry } from '../../src/auth/callers.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import {
  findingsOfSettings,
  type Finding,
  SETTING_CHECKS,
} from '../../src/operations/doctor/production_check.js'
import { operatorCli } from '../support/operator_cli.js'
import { tempFolder } from '../support/temp_folder.js'

/** Nothing in it is dangerous. */
const SAFE: Readonly<Record<string, string>> = {
  SECOND_OPERATOR_FROM: 'USD:1000000',
  RATE_MAX_AGE_S: '86400',
  SPREAD_BPS: '100',
  MASTER_KEY_FILE: '/etc/causeway/master.key',
  CALLERS: 'gateway:edge:certificate:edge.internal',
  NATS_URL: 'tls://user:password@10.0.0.1:4222,10.0.0.2:4222',
  GRPC_HOST: '10.0.0.5',
  GRPC_TLS_CERT_FILE: '/etc/causeway/processor.pem',
  GRPC_TLS_KEY_FILE: '/etc/causeway/processor.key',
  GRPC_TLS_CA_FILE: '/etc/causeway/ca.pem',
  TRUSTED_PROXIES: '10.0.0.0/24',
  SCREENING_ADDRESS: 'screening.internal:50053',
}
const DANGEROUS: readonly (readonly [changed: Record<string, string>, finding: string])[] = [
  [{ SECOND_OPERATOR_FROM: '' }, 'SECOND_OPERATOR_FROM is empty'],
  [{ RATE_MAX_AGE_S: '0' }, 'RATE_MAX_AGE_S=0'],
  [{ SPREAD_BPS: '0' }, 'SPREAD_BPS=0'],
  [{ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes' }, 'ALLOW_SANDBOX_RAIL_IN_PRODUCTION=yes'],
  [{ SCREENING_ADDRESS: '' }, 'SCREENING_ADDRESS is empty'],
  [{ RATE_LIMIT: 'off' }, 'RATE_LIMIT=off'],
  [{ DUPLICATE_SCAN_WINDOW_S: '0' }, 'DUPLICATE_SCAN_WINDOW_S=0'],
  [{ TH_LIMIT_DAY_THB: '10' }, 'TH_LIMIT_… of a shorter time exceeds that of a longer one'],
  [{ WEBHOOK_ALLOW_PRIVATE: 'true' }, 'WEBHOOK_ALLOW_PRIVATE=true'],
  [{ DISK_RESERVE_MB: '0' }, 'DISK_RESERVE_MB=0'],
  [{ MASTER_KEY_FILE: '' }, 'MASTER_KEY_FILE is empty'],
  [{ STORE: 'postgres' }, 'STORE=postgres without STORE_URL'],
  [{ NATS_URL: 'nats://10.0.0.1:4222' }, 'NATS_URL is nats:// beyond loopback'],
  [{ OPS_HOST: '0.0.0.0' }, 'OPS_HOST is beyond loopback'],
  [{ TRUSTED_PROXIES: '10.0.0.1,0.0.0.0/0' }, 'TRUSTED_PROXIES contains every address'],
  [{ RECOVERY: 'yes' }, 'RECOVERY=yes'],
  [{ LOG_LEVEL: 'error' }, 'LOG_LEVEL hides warnings'],
  [
    { CALLERS: callerEntry('service', 'ledger', 'a-token') },
    'CALLERS has tokens, with GRPC_HOST beyond loopback: ledger',
  ],
]
const findingsIn = (changed: Record<string, string>): readonly Finding[] =>
  findingsOfSettings(readSettings({ ...SAFE, ...changed }, ''))

t.test('each dangerous setting is one finding, and harmless ones are none', async (t) => {
  t.same(findingsIn({}), [])
  for (const [changed, finding] of DANGEROUS) {
    const found = findingsIn(changed)
    t.same(
      found.map((each) => each.finding),
      [finding],
    )
    t.ok(found.every(({ why, remedy }) => why.length > 10 && remedy.length > 10))
  }
  const tried = DANGEROUS.map(([, finding]) => finding)
  for (const { finding } of SETTING_CHECKS) t.ok(tried.includes(finding), finding)
  t.same(findingsIn({ NATS_URL: 'nats://127.0.0.1:4222', GRPC_HOST: '127.0.0.1' }), [])
  t.same(findingsIn({ CALLERS: callerEntry('service', 's', 't'), GRPC_HOST: '::1' }), [])
})

t.test('without a processor it says what is not checked', async (t) => {
  const dataDir = tempFolder(t)
  const ops = operatorCli(dataDir, '', SAFE)
  const { exitCode, out } = await ops('production check')
  t.equal(exitCode, 1)
  t.match(out, /^finding +why +what to do\n/)
  t.match(out, `a processor was not seen: no stack has run with DATA_DIR=${dataDir}`)
  t.match(out, /\n1 finding\n$/)
  const json = await ops('production check --json')
  t.equal(json.exitCode, 1)
  t.match(JSON.parse(json.out), {
    findings: [{ finding: /not seen/, why: String, remedy: String }],
  })
})
