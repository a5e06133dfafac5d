/** Lists the licenses of all locked packages; exit code 1 when one is not accepted. */
import { checkLicenses, lockedPackages } from './licenses.js'

const { counts, faults } = checkLicenses(lockedPackages())
const lines = ['shipped  tools  license']
for (const [license, { shipped, tools }] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
  lines.push(`${String(shipped).padStart(7)}  ${String(tools).padStart(5)}  ${license}`)
}
process.stdout.write(`${lines.join('\n')}\n`)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
