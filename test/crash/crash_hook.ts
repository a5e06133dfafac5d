/**
 * Loaded into a process under test (`--import crash_hook.js?folder=…`): ends it by SIGKILL at the
 * crash point whose file is in the folder.
 *
 * - The file has the number of times that the point is passed before. It is removed first, so the
 *   next process goes on.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onCrashPoint } from '../../src/base/crash_point.js'

const folder = new URL(import.meta.url).searchParams.get('folder') ?? ''

onCrashPoint((name) => {
  const file = join(folder, name)
  const passes = passesIn(file)
  if (passes === undefined) return
  if (passes > 0) return writeFileSync(file, String(passes - 1))
  rmSync(file)
  process.kill(process.pid, 'SIGKILL')
})

function passesIn(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
