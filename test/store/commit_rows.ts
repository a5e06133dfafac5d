/** Batches for tests of the store. */
import { instant } from '../../src/base/clock.js'
import type { CommitRows, RowsByTable } from '../../src/store/store.js'
import type { Row } from '../../src/store/tables.js'

export function batchOf(rows: RowsByTable): CommitRows {
  return {
    rows,
    settledEvents: [],
    settledAt: instant(9),
    nonces: null,
    noncesSeenAt: instant(9),
    forgetBefore: null,
    forgetAfter: Infinity,
    expired: null,
    keyFingerprints: null,
    keyFingerprintsFirst: 0,
    userFingerprints: null,
    userLinks: '[]',
    userFirst: 0,
  }
}

export const anIntent = (id: string, state = 'created'): Row<'intents'> => ({
  id,
  tenant: 'demo_sandbox',
  state,
  due_at: 5,
  confirmed_at: null,
  context: { id, note: 'Zażółć "quoted" \\ \u2028 🙂' },
})

export const anEvent = (position: number): Row<'events'> => ({
  position,
  id: `evt_${position}`,
  tenant: 'demo_sandbox',
  sequence: position,
  type: 'payout.created',
  entity: `pout_${position}`,
  created_at: 7,
  body: `{"n":1.0,"text":"\\u0001 é 🙂"}`,
  request_id: `req_${position}`,
  cause: 'request',
  traceparent: `trace_${position}`,
})

export const NOTHING_FOUND = {
  intents: [],
  payouts: [],
  beneficiaries: [],
  idempotency: [],
  usage: [],
  fxQuotes: [],
  discrepancies: [],
  deposits: [],
}

/** Loads the given keys only. */
export const NOTHING_WANTED = { ...NOTHING_FOUND, indexedKeys: [] }
