/**
 * Deletes rows whose retention has ended, and records which ones (background/retention).
 *
 * - What was deleted is recorded in the same commit: the audit knows what may be missing.
 * - A repeated deletion of the same rows changes nothing.
 * - A deleted key is free at once: its row in memory could name an intent that is archived next.
 */
import type { TenantId } from '../../../base/ids.js'
import type { ExpiredRows } from '../../../store/retention.js'
import type { Row } from '../../../store/tables.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

export interface Expiry {
  readonly rows: Partial<ExpiredRows>
  readonly events?: Row<'eventRetention'>
  readonly keys?: readonly Row<'keyRetention'>[]
}

export function expireRows({ rows, events, keys = [] }: Expiry): Command {
  return {
    name: 'expire_rows',
    needs: () => undefined,
    decide: ({ memory, batch }) => {
      if (events !== undefined && memory.departed.has(events.tenant as TenantId))
        return refuse('configuration_error')
      if (events !== undefined) batch.stage('eventRetention', events.tenant, events)
      for (const row of keys) batch.stage('keyRetention', row.kind, row)
      batch.expire(rows)
      for (const { sequence, key } of rows.keys ?? []) {
        const cached = memory.idempotency.get(key)
        if (cached?.sequence === sequence) memory.idempotency.remove(key, batch.number)
      }
      return answer({})
    },
  }
}

/** Records that the keys of now are as old as this moment, or older. */
export function recordKeyAge(): Command {
  return {
    name: 'record_key_age',
    needs: () => undefined,
    decide: ({ memory, batch, now }) => {
      const { lastKeySequence: through } = memory
      if (through > 0) batch.stage('keyAges', String(through), { through, at: now })
      return answer({})
    },
  }
}
