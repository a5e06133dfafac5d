/**
 * Loaded into a program with --import: profiles its main thread between two SIGUSR2 and writes
 * `<pid>.cpuprofile`. `node --cpu-prof` would include the start and the warm-up, and Node 20 does
 * not accept it in NODE_OPTIONS, which the stack's processes inherit.
 *
 * - A profile without samples runs from the start, because only code compiled during a profile has
 *   the positions of inlined functions.
 * - The file is written atomically.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'

const NEVER_MICROS = 1_000_000_000
const SAMPLE_MICROS = 500

const { searchParams } = new URL(import.meta.url)
const file = join(searchParams.get('folder') ?? '.', `${process.pid}.cpuprofile`)
const session = new Session()
session.connect()
session.post('Profiler.enable')
start(NEVER_MICROS)

process.once('SIGUSR2', () => {
  session.post('Profiler.stop')
  start(SAMPLE_MICROS)
  process.once('SIGUSR2', () => {
    session.post('Profiler.stop', (error, { profile }) => {
      if (error !== null) throw error
      writeFileSync(`${file}.new`, JSON.stringify(profile))
      renameSync(`${file}.new`, file)
    })
  })
})

function start(interval: number): void {
  session.post('Profiler.setSamplingInterval', { interval })
  session.post('Profiler.start')
}
