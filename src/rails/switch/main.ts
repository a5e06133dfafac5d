/** The switch for trials: composition root. */
import { childProcess } from '../../process/child.js'
import { systemClock, toRfc3339 } from '../../base/clock.js'
import { createLog } from '../../base/log.js'
import { programOptions } from '../../process/program_options.js'
import { systemRandom } from '../../base/random.js'
import { dataFile, requirePrivateDataDir } from '../../settings/settings.js'
import { readSettings } from '../../settings/settings_reader.js'
import { reportStartupFaults } from '../../process/startup_faults.js'
import { FILES } from '../../base/subjects.js'
import { readMembership } from '../iso20022/membership_file.js'
import { openMessageFile } from './message_file.js'
import { startSwitch, STATEMENT_EVERY_MS } from './switch.js'
import { openSwitchLog } from './switch_log.js'

reportStartupFaults()
programOptions('switch', 'A switch that speaks ISO 20022, for trials.', {})
const settings = readSettings()
requirePrivateDataDir(settings)
const log = createLog('switch', settings)
const running = await startSwitch({
  us: await readMembership(settings.ISO20022_FILE),
  journal: openSwitchLog(dataFile(settings, FILES.switchLog)),
  ...{ clock: systemClock, random: systemRandom(), log, statementEveryMs: STATEMENT_EVERY_MS },
  onMessage: openMessageFile(dataFile(settings, FILES.switchMessages), () =>
    toRfc3339(systemClock.now()),
  ),
})
childProcess({ log, stop: () => running.close() }).ready({ address: running.address })
log.info({ address: running.address }, 'serving')
