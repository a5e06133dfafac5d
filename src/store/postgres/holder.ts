/**
 * The holder of a lease: names a data directory and the process that has it.
 *
 * - Its last part is random for each process. The session that commits has it in its name, so a
 *   session is that of a holder only with both process id and name: the server uses process ids
 *   again.
 * - A holder of an earlier version has no such part.
 */

const RUN = '#'
const COMMITS = 'commits'
const APPLICATION = 'causeway'

/** @param folder the machine, path and id of the data directory; the same after a restart */
export const holderAt = (folder: string, run: string): string => `${folder}${RUN}${run}`

const cut = (holder: string): number => {
  const at = holder.lastIndexOf(RUN)
  return at < 0 ? holder.length : at
}

/** Whether both are processes of one data directory, or of copies of it. */
export const isSameFolder = (one: string, other: string): boolean =>
  one.slice(0, cut(one)) === other.slice(0, cut(other))

/** The purpose of the connection on which the holder commits. */
export const commitsOf = (holder: string): string =>
  `${COMMITS} ${holder.slice(cut(holder) + 1)}`.trim()

/** The name of a session with this purpose at the server. */
export const sessionName = (purpose: string): string => `${APPLICATION} ${purpose}`
