/** The adapter of a switch that speaks ISO 20022: composition root. */
import { dataFile } from '../../base/settings.js'
import { FILES } from '../../base/subjects.js'
import { startBankAdapter } from '../adapter/bank_adapter.js'
import { BANK_JOURNAL_SCHEMA } from '../adapter/journal.js'
import { runRail } from '../adapter/run.js'
import { createIsoBank } from './bank.js'
import { readMembership } from './membership_file.js'
import { openRecord } from './record.js'

await runRail({
  process: 'iso20022_rail',
  about: 'The adapter of a bank or switch that speaks ISO 20022.',
  schema: BANK_JOURNAL_SCHEMA,
  start: async (served, settings) => {
    const { clock, log } = served
    const us = await readMembership(settings.ISO20022_FILE)
    const record = await openRecord(dataFile(settings, FILES.railRecord), clock)
    const bank = createIsoBank({ us, record, clock, log })
    const adapter = await startBankAdapter({ ...served, bank })
    const close = async (): Promise<void> => {
      await bank.close()
      await adapter.close()
      await record.close()
    }
    return { ...adapter, close }
  },
})
