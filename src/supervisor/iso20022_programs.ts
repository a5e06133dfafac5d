/**
 * The programs of RAIL_ADAPTER=iso20022: the adapter, and the switch for trials.
 *
 * - Their certificates and keys are made at the first start, in a folder of DATA_DIR.
 * - With ISO20022_FILE the adapter speaks to the switch of that file, and no other is started.
 */
import { existsSync } from 'node:fs'
import type { Instant } from '../base/clock.js'
import type { SettingName, Settings } from '../settings/settings.js'
import { FILES } from '../base/subjects.js'
import { writeTrialNetwork } from '../rails/switch/trial_network.js'
import type { OwnProgram } from './child_variables.js'
import type { DataFolder } from './data_folder.js'
import { freePort } from './ports.js'
import type { PlannedProgram, Program } from './program.js'
import { StartupError } from './startup_error.js'

const HOST = '127.0.0.1'
const FOLDER = 'iso20022'

type Own = (main: OwnProgram, settings: Partial<Record<SettingName, string>>) => Program

export interface IsoStack {
  readonly settings: Settings
  readonly data: DataFolder
  readonly own: Own
  /** Where the adapter listens for the processor. */
  readonly rail: string
  readonly now: Instant
}

export async function planIso20022(stack: IsoStack): Promise<readonly PlannedProgram[]> {
  const { settings, data, own, rail, now } = stack
  const adapterOf = (file: string): PlannedProgram => ({
    name: 'rail',
    program: () => own('src/rails/iso20022/main.js', { RAIL_LISTEN: rail, ISO20022_FILE: file }),
    describe: () => 'ISO 20022 adapter: moves no real money',
  })
  const folder = data.folder(FOLDER)
  if (settings.ISO20022_FILE !== '') return [adapterOf(settings.ISO20022_FILE)]
  const ports = { adapter: await freePort(HOST), switch: await freePort(HOST) }
  const { adapterFile, switchFile } = writeTrialNetwork(folder, ports, now)
  return [
    {
      name: 'switch',
      program: () => own('src/rails/switch/main.js', { ISO20022_FILE: switchFile }),
      describe: () => `trial switch on ${HOST}:${ports.switch}`,
    },
    adapterOf(adapterFile),
  ]
}

/**
 * The payments of a DATA_DIR belong to the adapter that has their journal. The folder of this one
 * is there before its journal.
 *
 * @throws StartupError when it is the journal of the other adapter
 */
export function refuseJournalOfOther(
  { RAIL_ADAPTER: adapter }: Pick<Settings, 'RAIL_ADAPTER'>,
  data: Pick<DataFolder, 'file'>,
): void {
  const journal = data.file(FILES.railDatabase)
  if (!existsSync(journal)) return
  const found = existsSync(data.file(FOLDER)) ? 'iso20022' : 'sandbox'
  if (found === adapter) return
  throw new StartupError(
    `${journal} is the journal of the ${found} rail: set RAIL_ADAPTER=${found}, or another ` +
      'DATA_DIR.',
  )
}
