/**
 * The upgrade drill with figures: `make upgrade-drill RATE=300 ROUNDS=3`, or of the trial cluster
 * with `CLUSTER=yes`. `FROM=REV` begins with the programs of that revision.
 *
 * It exits with 1 unless no request failed and the audit is clean, with 2 without that revision.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOptions } from '../../src/process/program_options.js'
import { tableOf } from './drill.js'
import { drillCluster, drillStack } from './drilled.js'
import { checkOut } from './former.js'

const { rate, rounds, cluster, from } = programOptions(
  'upgrade-drill',
  'Replaces every process, one by one, under load of clients that repeat no request.',
  {
    rate: { value: 'N', about: 'requests a second', kind: 'number', fallback: 300 },
    rounds: { value: 'N', about: 'rolling restarts', kind: 'number', fallback: 3 },
    cluster: { about: 'in the trial cluster' },
    from: { value: 'REV', about: 'upgrade from this revision in the first restart' },
  },
)
const FAILURES_SHOWN = 20
const print = (line: string): void => console.log(line)
const folder = mkdtempSync(join(tmpdir(), 'causeway-upgrade-'))
const formerFolder = mkdtempSync(join(tmpdir(), 'causeway-former-'))
const former = from === undefined ? undefined : checkOut(from, formerFolder)
if (former === null) {
  for (const made of [folder, formerFolder]) rmSync(made, { recursive: true, force: true })
  process.exit(2)
}
let isWhole = false
try {
  print(`upgrade drill: ${rounds} rolling restarts under ${rate} requests a second`)
  const drill = cluster ? drillCluster : drillStack
  const { result, audit } = await drill(folder, { perSecond: rate, rounds }, former)
  for (const line of tableOf(result)) print(line)
  for (const { what } of result.failures.slice(0, FAILURES_SHOWN)) print(`  ${what}`)
  print(`${result.requests} requests, ${result.failures.length} failed, none repeated`)
  for (const { report } of audit) print(report.trimEnd().split('\n').at(-1) ?? '')
  isWhole = result.failures.length === 0 && audit.every(({ clean }) => clean)
} finally {
  rmSync(formerFolder, { recursive: true, force: true })
  if (isWhole) rmSync(folder, { recursive: true, force: true })
  else {
    process.exitCode = 1
    print(`the data is in ${folder}`)
  }
}
