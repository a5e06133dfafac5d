/**
 * The measurement of webhook deliveries from the command line.
 *
 * node .build/test/load/deliveries/deliveries_main.js [--seconds 10] [--endpoints 10] [--rate R]
 * [--outstanding 500] [--isolation] [--pool-flag FLAG]...
 *
 * Prints the result as JSON. Exit codes: 0 measured, 3 measured and void.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from '../../../src/base/protos.js'
import { measureDeliveries, measureIsolation, type DeliveriesSettings } from './deliveries.js'

const EXIT_VOID = 3
const ISOLATION_RATE = 1_000

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    endpoints: { type: 'string', default: '10' },
    rate: { type: 'string' },
    outstanding: { type: 'string', default: '500' },
    isolation: { type: 'boolean', default: false },
    'pool-flag': { type: 'string', multiple: true, default: [] },
  },
})
const settings: DeliveriesSettings = {
  seconds: Number(values.seconds),
  endpoints: Number(values.endpoints),
  ratePerSecond: values.rate === undefined ? undefined : Number(values.rate),
  outstanding: Number(values.outstanding),
  poolFlags: values['pool-flag'],
}
const folder = join(projectRoot(), '.build', 'bench', `deliveries-${process.pid}`)
try {
  const result = values.isolation
    ? await measureIsolation(
        { ...settings, ratePerSecond: settings.ratePerSecond ?? ISOLATION_RATE },
        folder,
      )
    : await measureDeliveries(settings, folder)
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  process.exitCode = result.faults.length === 0 ? 0 : EXIT_VOID
} finally {
  rmSync(folder, { recursive: true, force: true })
}
