/**
 * CPU time of the ended children of this process and their ended descendants, in seconds.
 *
 * - Linux adds a child's time when it is reaped, which Node does just before its `exit` event: the
 *   growth between two ends is the time of the second.
 */
import { existsSync, readFileSync } from 'node:fs'

const FILE = '/proc/self/stat'
/** USER_HZ is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
/** Fields 16 and 17 (proc(5)), counted after the name, which may have spaces. */
const CHILDREN_USER = 13

export function childrenCpuSeconds(): number {
  if (!existsSync(FILE)) return 0
  const stat = readFileSync(FILE, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = fields.slice(CHILDREN_USER, CHILDREN_USER + 2)
  return (Number(user) + Number(system)) / TICKS_PER_SECOND
}
