/**
 * The user that PostgreSQL's programs run as: they refuse to run as root.
 *
 * - Where this process is root, they run as the user `postgres` or `nobody` if that one can enter
 *   the folder; the folders above it within DATA_DIR then let others pass through, not read.
 * - Else they run as root mapped to that user in a user namespace, which can enter any folder of
 *   root. A cluster keeps the owner that it was made with.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { assert } from '../base/assert.js'
import { StartupError } from './startup_error.js'

const UNPRIVILEGED = ['postgres', 'nobody']
const PASSABLE = 0o711
const ROOT = 0

export interface Account {
  readonly uid: number
  readonly gid: number
}

interface NamedAccount extends Account {
  readonly name: string
}

export interface ServerUser {
  /** Absent means the user of this process. */
  readonly account?: Account
  /** Precedes a program and its arguments. */
  readonly prefix: readonly string[]
}

const THIS_USER: ServerUser = { prefix: [] }

/** A folder for a server's files, within a folder of ours. */
export interface ServerFolder {
  readonly folder: string
  /** The highest folder above it that belongs to the stack: its DATA_DIR. */
  readonly within: string
}

/**
 * Creates the folder if it is missing, and makes it that of the user.
 * @throws StartupError when no user can have it
 */
export function serverUserOf({ folder, within }: ServerFolder): ServerUser {
  const above = foldersAbove({ folder, within })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (process.getuid?.() !== ROOT) return THIS_USER
  const { name, ...account } = unprivilegedAccount()
  const isNew = !existsSync(join(folder, 'PG_VERSION'))
  const isOfRoot = statSync(folder).uid === ROOT
  const isReached = canEnter(account, dirname(within))
  if ((isNew || !isOfRoot) && isReached) {
    chownSync(folder, account.uid, account.gid)
    for (const passed of above) chmodSync(passed, PASSABLE)
    return { account, prefix: [] }
  }
  const prefix = ['unshare', '--user', `--map-user=${account.uid}`, `--map-group=${account.gid}`]
  if ((isNew || isOfRoot) && canRun(prefix)) {
    chownSync(folder, ROOT, ROOT)
    return { prefix }
  }
  const why = isReached
    ? `${folder} belongs to root: give it to ${name} (chown -R).`
    : `the user ${name} cannot enter ${within}: ` +
      'choose a DATA_DIR elsewhere, start as another user, or set STORE_URL.'
  throw new StartupError(`PostgreSQL does not run as root, and ${why}`)
}

/** The folders above `folder`, from `within` on. */
function foldersAbove({ folder, within }: ServerFolder): string[] {
  const names = relative(within, folder).split(sep).slice(0, -1)
  assert(!names.includes('..'), `${folder} is within ${within}`)
  return [within, ...names.map((_, i) => join(within, ...names.slice(0, i + 1)))]
}

const canEnter = (account: Account, folder: string): boolean =>
  succeeds('/bin/sh', ['-c', 'cd "$0"', folder], account)

/** Not where the machine has no user namespaces. */
const canRun = ([command = '', ...args]: readonly string[]): boolean =>
  succeeds(command, [...args, 'true'])

function succeeds(command: string, args: readonly string[], account?: Account): boolean {
  try {
    execFileSync(command, args, { cwd: '/', stdio: 'ignore', ...account })
    return true
  } catch {
    return false
  }
}

function unprivilegedAccount(): NamedAccount {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of UNPRIVILEGED) {
    const found = accounts.find(([user]) => user === name)
    if (found !== undefined) return { name, uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new StartupError(
    'PostgreSQL does not run as root: start as another user, or set STORE_URL.',
  )
}
