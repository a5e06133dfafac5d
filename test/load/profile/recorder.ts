/**
 * Loaded into a program ahead of its own code: records what its main thread does between two
 * signals.
 *
 * Owns: one profile and its file, `<pid>.cpuprofile`; `<pid>.begun` tells that it is under way.
 * Does not own: when it begins and ends (recording).
 *
 * - From the start on a profile without samples runs: only code that is compiled under one tells
 *   later which functions were inlined into it.
 * - The file is there as a whole or not at all.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'

const NEVER_MICROS = 1_000_000_000

const { searchParams } = new URL(import.meta.url)
const folder = searchParams.get('folder') ?? '.'
const everyMicros = Number(searchParams.get('everyMicros'))

const session = new Session()
session.connect()
session.post('Profiler.enable')
start(NEVER_MICROS)

process.once('SIGUSR2', () => {
  session.post('Profiler.stop')
  start(everyMicros)
  process.once('SIGUSR2', stop)
  writeFileSync(fileOf('begun'), '')
})

function start(interval: number): void {
  session.post('Profiler.setSamplingInterval', { interval })
  session.post('Profiler.start')
}

function stop(): void {
  session.post('Profiler.stop', (fault, { profile }) => {
    if (fault !== null) throw fault
    writeFileSync(fileOf('new'), JSON.stringify(profile))
    renameSync(fileOf('new'), fileOf('cpuprofile'))
  })
}

function fileOf(ending: string): string {
  return join(folder, `${process.pid}.${ending}`)
}
