/** Whether a read has met a damaged part of the database. What does not need the part goes on. */
import { isDamage } from '../base/damage.js'
import type { Reader } from './database.js'

export function createDamageWatch() {
  let found: string | null = null
  const note = (error: Error): never => {
    if (isDamage(error)) found ??= error.message
    throw error
  }
  return {
    watched: <R extends Reader>(reader: R): R => ({
      ...reader,
      all: <Row>(...query: Parameters<Reader['all']>) => reader.all<Row>(...query).catch(note),
    }),
    /** The first damage that a watched reader has met. */
    found: () => found,
  }
}
