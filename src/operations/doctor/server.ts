/** The PostgreSQL server of the books: settings on which committed payments depend. */
import { withoutSecrets } from '../../settings/settings_reader.js'
import { connectToPrimary, parseStoreUrl } from '../../store/postgres/connection.js'
import { readSynchrony } from '../../store/postgres/synchrony.js'
import type { Clock } from '../../base/clock.js'
import type { Settings } from '../../settings/settings.js'
import type { Finding } from './production_check.js'
import { checked, messageOf, UNUSED, type Area } from './area.js'

/** Processes of one cluster tolerate more, and a difference says that one clock is wrong. */
const CLOCK_DIFFERENCE_MAX_MS = 1_000

export interface ServerState {
  readonly fsync: string
  readonly full_page_writes: string
  readonly data_checksums: string
  readonly archive_mode: string
  /** Epoch ms. Null if none failed since the last one that worked. */
  readonly archive_failed_at: number | null
  readonly now: number
}

const STATE = `SELECT current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('data_checksums') AS data_checksums,
  current_setting('archive_mode') AS archive_mode,
  (SELECT CAST(extract(epoch FROM last_failed_time) * 1000 AS bigint) FROM pg_stat_archiver
    WHERE last_archived_time IS NULL OR last_failed_time > last_archived_time)
    AS archive_failed_at,
  CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now`

export const server: Area = {
  name: 'PostgreSQL',
  look: async (settings, clock) => {
    const { STORE_URL: url } = settings
    if (url === '') return UNUSED
    try {
      return checked(await look(settings, clock))
    } catch (error) {
      return checked([
        {
          finding: `${withoutSecrets('STORE_URL', url)} was not seen: ${messageOf(error)}`,
          why: 'without it nothing is answered, and its settings are not checked',
          remedy: 'check STORE_URL, the network and the role',
        },
      ])
    }
  },
}

async function look({ STORE_URL, SHARD }: Settings, clock: Clock): Promise<readonly Finding[]> {
  const connection = await connectToPrimary(parseStoreUrl(STORE_URL), SHARD, 'doctor')
  try {
    const before = clock.now()
    const [state] = await connection.all<ServerState>(STATE)
    const here = (before + clock.now()) / 2
    const { fault, standbys } = await readSynchrony(connection)
    const ofStandby = fault ?? (standbys === 0 ? 'no synchronous standby is connected' : null)
    return [
      ...serverFindings(state!, here),
      ...(ofStandby === null ? [] : [notSynchronous(ofStandby)]),
    ]
  } finally {
    await connection.close()
  }
}

const notSynchronous = (finding: string): Finding => ({
  finding,
  why: 'answered payments are lost with the one server, or commits wait for a standby',
  remedy: 'a synchronous standby: "Books in PostgreSQL" of the guide',
})

/** @param here the time of this machine, epoch ms */
export function serverFindings(state: ServerState, here: number): readonly Finding[] {
  const off = (['fsync', 'full_page_writes'] as const).filter((name) => state[name] !== 'on')
  const apart = Math.round(Math.abs(state.now - here))
  return [
    ...off.map((name) => ({
      finding: `${name} is ${state[name]} on the server`,
      why: 'a power cut damages the books',
      remedy: `ALTER SYSTEM SET ${name} = on, then reload`,
    })),
    ...(state.data_checksums === 'on' ? [] : [NO_CHECKSUMS]),
    ...(state.archive_mode === 'off' ? [NO_ARCHIVE] : []),
    ...(state.archive_failed_at === null ? [] : [archiveFails(state.archive_failed_at)]),
    ...(apart <= CLOCK_DIFFERENCE_MAX_MS ? [] : [clocksDiffer(apart)]),
  ]
}

const NO_CHECKSUMS: Finding = {
  finding: 'data_checksums is off on the server',
  why: 'a damaged page is read as if it were right',
  remedy: 'stop the server, then pg_checksums --enable',
}

const NO_ARCHIVE: Finding = {
  finding: 'archive_mode is off on the server',
  why: 'its backups can be restored to their own moment only, not to one before a mistake',
  remedy: 'archive_mode = on with an archive_command to another machine; it needs a restart',
}

const archiveFails = (at: number): Finding => ({
  finding: `the server failed to archive its WAL at ${new Date(at).toISOString()}`,
  why: 'a restore to a moment ends there, and WAL fills the disk of the server',
  remedy: 'see last_failed_wal in pg_stat_archiver, and the log of the server',
})

const clocksDiffer = (ms: number): Finding => ({
  finding: `the clock of the server and of this machine differ by ${ms} ms`,
  why: 'one of them is wrong, and leases and quotes depend on them',
  remedy: 'synchronize both with NTP',
})
