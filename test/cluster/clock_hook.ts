/**
 * Loaded into a process under test (`--import clock_hook.js?folder=…`): its clock differs by the
 * milliseconds in the file of its name.
 *
 * - Only `Date.now` differs, which is the clock of the service (base/clock).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOOK_EVERY_MS = 100
const folder = new URL(import.meta.url).searchParams.get('folder') ?? ''
const name = process.env['PROCESSOR_NAME'] ?? ''

if (name !== '') {
  const now = Date.now.bind(Date)
  let difference = 0
  const look = (): void => {
    try {
      difference = Number(readFileSync(join(folder, name), 'utf8'))
    } catch {
      difference = 0
    }
  }
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
  Date.now = () => now() + difference
}
