/** The journal of the sandbox rail: that of an adapter, with the sandbox's own tables. */
import type { Random } from '../../base/random.js'
import { openJournal as open, type Journal } from '../adapter/journal.js'

export const SCHEMA = 'src/rails/sandbox/schema'

export type { Discrepancy, Journal } from '../adapter/journal.js'

/** @throws Error when the key of the accounts in the file is missing or another one */
export const openJournal = (file: string, random: Random): Promise<Journal> =>
  open({ file, schema: SCHEMA, random })
