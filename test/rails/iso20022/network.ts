/** The adapter and the switch in this process; each can be restarted. */
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { startBankAdapter } from '../../../src/rails/adapter/bank_adapter.js'
import { BANK_JOURNAL_SCHEMA, openJournal } from '../../../src/rails/adapter/journal.js'
import { createIsoBank } from '../../../src/rails/iso20022/bank.js'
import { readMembership } from '../../../src/rails/iso20022/membership_file.js'
import { openRecord, type Alarm, type Record } from '../../../src/rails/iso20022/record.js'
import { startSwitch } from '../../../src/rails/switch/switch.js'
import { openSwitchLog, type SwitchLog } from '../../../src/rails/switch/switch_log.js'
import { writeTrialNetwork } from '../../../src/rails/switch/trial_network.js'
import { freePort } from '../../../src/supervisor/ports.js'
import { withEveryRole } from '../../support/callers.js'
import { SILENT_LOG as log } from '../../support/logs.js'
import { random, shortFolder, TOKEN } from '../harness.js'

/** Statements are issued on demand. */
const NEVER_MS = 2 ** 31 - 1

export interface Network {
  readonly folder: string
  /** For the rail's client. */
  readonly address: string
  readonly journal: SwitchLog
  /** Lines of the adapter's log. */
  readonly lines: string[]
  readonly alarms: readonly Alarm[]
  record(): Record
  issueStatements(): void
  restartAdapter(): Promise<void>
  restartSwitch(): Promise<void>
}

export async function aNetwork(t: Test, finalityWindowMs = 1_000): Promise<Network> {
  const folder = shortFolder(t)
  const ports = { adapter: await freePort('127.0.0.1'), switch: await freePort('127.0.0.1') }
  const files = writeTrialNetwork(folder, ports, systemClock.now(), finalityWindowMs)
  const lines: string[] = []
  const alarms: Alarm[] = []
  const address = `unix:${join(folder, 'rail.sock')}`

  const startAdapter = async () => {
    const journal = await openJournal({
      ...{ file: join(folder, 'rail.db'), schema: BANK_JOURNAL_SCHEMA, random },
    })
    const record = await openRecord(join(folder, 'iso20022.db'), systemClock)
    const adapterLog = pino({}, { write: (line) => void lines.push(line) })
    const us = await readMembership(files.adapterFile)
    const bank = createIsoBank({
      ...{ us, record, clock: systemClock, log: adapterLog },
      onAlarm: (kind) => void alarms.push(kind),
    })
    const adapter = await startBankAdapter({
      ...{ bank, journal, random, clock: systemClock, callers: withEveryRole(TOKEN), address },
      log: adapterLog,
      fail: (error) => {
        throw error
      },
    })
    const close = async (): Promise<void> => {
      await bank.close()
      await adapter.close()
      await journal.close()
      await record.close()
    }
    return { record, close }
  }
  const startTheSwitch = async () => {
    const journal = openSwitchLog(join(folder, 'switch.jsonl'))
    const us = await readMembership(files.switchFile)
    const running = await startSwitch({
      ...{ us, journal, clock: systemClock, random, log, statementEveryMs: NEVER_MS },
    })
    return { ...running, journal }
  }
  let theSwitch = await startTheSwitch()
  let adapter = await startAdapter()
  t.teardown(async () => {
    await adapter.close()
    await theSwitch.close()
  })
  return {
    ...{ folder, address, lines, alarms },
    get journal() {
      return theSwitch.journal
    },
    record: () => adapter.record,
    issueStatements: () => theSwitch.issueStatements(),
    restartAdapter: async () => {
      await adapter.close()
      adapter = await startAdapter()
    },
    restartSwitch: async () => {
      await theSwitch.close()
      theSwitch = await startTheSwitch()
    },
  }
}
