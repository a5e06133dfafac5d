/** The screening service for trials: composition root. */
import { rmSync } from 'node:fs'
import { configuredCaller, createCallers } from '../../auth/callers.js'
import { childProcess } from '../../process/child.js'
import { systemClock } from '../../base/clock.js'
import { openGrpcTls } from '../../grpc/tls.js'
import { createLog } from '../../base/log.js'
import { isUnixSocket } from '../../base/network.js'
import { programOptions } from '../../process/program_options.js'
import { readSettings } from '../../settings/settings_reader.js'
import { reportStartupFaults } from '../../process/startup_faults.js'
import { startScreening } from './server.js'

reportStartupFaults()
programOptions('screening', 'Screens sandbox payouts by their reference.', {})
const settings = readSettings()
const log = createLog('screening', settings)
const { SCREENING_LISTEN: address } = settings
if (isUnixSocket(address)) rmSync(address.slice('unix:'.length), { force: true }) // of a killed run
const server = await startScreening({
  address,
  callers: createCallers(settings.CALLERS.map(configuredCaller), systemClock),
  tls: openGrpcTls(settings, log),
})
const child = childProcess({ log, stop: server.close })
child.ready({ address })
log.info({ address }, 'serving')
