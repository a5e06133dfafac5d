/** This machine: free disk space, the clock, and the age of the newest backup. */
import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { backupAgeSeconds, readLastBackup } from '../../files/backup_marks.js'
import { DAY, SECOND, type Clock } from '../../base/clock.js'
import { MIB } from '../../files/free_space.js'
import { dataFile, type Settings } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import { readManifest } from '../../backup/manifest.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, UNUSED, type Area, type Seen } from './area.js'

/** The share of the file system: databases and logs grow for days before a person acts. */
const FREE_SHARE_MIN = 0.15
const OTHERS = 0o077
const OLD_BACKUP_S = (2 * DAY) / SECOND

export const disk: Area = {
  name: 'disk',
  look: async ({ DATA_DIR, DISK_RESERVE_MB: reserve }) => {
    if (!existsSync(resolve(DATA_DIR))) return UNUSED
    const { bavail, blocks, bsize } = await statfs(resolve(DATA_DIR))
    const free = bavail * bsize
    if (bavail >= blocks * FREE_SHARE_MIN && free >= 4 * reserve * MIB) return checked([])
    return checked([
      {
        finding: `${Math.floor(free / MIB)} MB are free on the disk of DATA_DIR`,
        why: `below DISK_RESERVE_MB=${reserve} writes are refused`,
        remedy: 'move logs and backups away, or enlarge the file system',
      },
    ])
  },
}

/** `timedatectl` answers where systemd runs; in a container the clock is that of its host. */
export const clockOfMachine: Area = {
  name: 'clock',
  look: async (): Promise<Seen> => {
    try {
      const asked = ['show', '--property=NTPSynchronized', '--value']
      const { stdout } = await promisify(execFile)('timedatectl', asked, { timeout: 5_000 })
      return clockFindings(stdout)
    } catch {
      const reason = 'timedatectl does not answer here: look on the host for NTP'
      return { kind: 'unknown', reason }
    }
  },
}

/** @param answer `yes` or `no` */
export function clockFindings(answer: string): Seen {
  if (answer.trim() === 'yes') return checked([])
  return checked([
    {
      finding: 'the clock is not synchronized',
      why: 'signatures are valid for five minutes, and quotes, rates and certificates have an end',
      remedy: 'run chrony or systemd-timesyncd; timedatectl shows it',
    },
  ])
}

export const backups: Area = {
  name: 'backups',
  look: (settings, clock) => Promise.resolve(lookAtBackups(settings, clock)),
}

function lookAtBackups(settings: Settings, clock: Clock): Seen {
  const file = dataFile(settings, FILES.lastBackup)
  const last = readLastBackup(file)
  const isOfServer = settings.STORE === 'postgres' || settings.STORE_URL !== ''
  if (isOfServer && last === undefined) {
    return { kind: 'unknown', reason: 'no `backup` of the server ran here: look at its own tools' }
  }
  if (last === undefined) return checked([finding('there is no backup')])
  const age = backupAgeSeconds(file, clock.now())
  const old = age > OLD_BACKUP_S ? [finding(`the newest backup is ${days(age)} days old`)] : []
  return checked([
    ...old,
    ...wholeFindings(last.folder),
    ...sameDiskFindings(settings, last.folder),
    ...openFindings(last.folder),
  ])
}

const days = (seconds: number): string => ((seconds * SECOND) / DAY).toFixed(1)

const finding = (text: string): Finding => ({
  finding: text,
  why: 'what was committed since is lost with the disk',
  remedy: 'backup DIR --every 1h --keep 48 as a service; alert on causeway_backup_age_seconds',
})

function wholeFindings(folder: string): readonly Finding[] {
  try {
    const { audit } = readManifest(folder)
    if (audit.clean !== false) return []
    return [{ ...finding(`the audit of ${folder} is broken`), remedy: 'make audit, first of all' }]
  } catch (error) {
    return [finding(`the newest backup is gone: ${messageOf(error).replace(/\.$/, '')}`)]
  }
}

function openFindings(folder: string): readonly Finding[] {
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 }
  if ((mode & OTHERS) === 0) return []
  return [
    {
      finding: `${folder} is accessible to others (mode ${(mode & 0o777).toString(8)})`,
      why: 'a backup has all payments, and with its keys every secret',
      remedy: 'chmod 700 the folder',
    },
  ]
}

function sameDiskFindings({ DATA_DIR }: Settings, folder: string): readonly Finding[] {
  const [own, other] = [resolve(DATA_DIR), folder].map((path) =>
    existsSync(path) ? statSync(path).dev : undefined,
  )
  if (own === undefined || own !== other) return []
  return [
    {
      finding: 'the backups are on the file system of DATA_DIR',
      why: 'both are lost with that disk',
      remedy: 'write them to another disk, and copy them to another machine',
    },
  ]
}
