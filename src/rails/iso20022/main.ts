/** The adapter of a switch that speaks ISO 20022: composition root. */
import { SETTINGS_READ_BY } from '../../settings/setting_readers.js'
import { dataFile } from '../../settings/settings.js'
import { FILES } from '../../base/subjects.js'
import { startBankAdapter } from '../adapter/bank_adapter.js'
import { BANK_JOURNAL_SCHEMA } from '../adapter/journal.js'
import { runRail } from '../adapter/run.js'
import { createIsoBank } from './bank.js'
import { readMembership } from './membership_file.js'
import { ALARMS, openRecord, type Alarm } from './record.js'

await runRail({
  process: 'iso20022_rail',
  about: 'The adapter of a bank or switch that speaks ISO 20022.',
  schema: BANK_JOURNAL_SCHEMA,
  reads: SETTINGS_READ_BY['src/rails/iso20022/main.js'],
  start: async (served, settings, metrics) => {
    const { clock, log } = served
    const us = await readMembership(settings.ISO20022_FILE)
    const record = await openRecord(dataFile(settings, FILES.railRecord), clock)
    const notices = metrics.counter('causeway_rail_notices_total')
    for (const kind of ALARMS) notices.add(0, kind) // an increase is seen only of a known series
    const onAlarm = (kind: Alarm): void => notices.inc(kind)
    const bank = createIsoBank({ us, record, clock, log, onAlarm })
    const adapter = await startBankAdapter({ ...served, bank })
    const close = async (): Promise<void> => {
      await bank.close()
      await adapter.close()
      await record.close()
    }
    return { ...adapter, close }
  },
})
