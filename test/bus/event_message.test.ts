/** Reading of bus messages: any order of members; a body that is damaged anywhere is poison. */
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { eventSubject } from '../../src/base/subjects.js'
import { fromMessage, toMessage, type ReadEvents } from '../../src/bus/event_message.js'

const TENANT = tenantOf('demo' as PartnerId, 'sandbox')
const ID = 'evt_01K9ZZZZZZZZZZZZZZZZZZZZZZ'
const AT = '2026-11-21T04:35:40.123Z'
/** In the order of changes/event_publish. */
const OWN = {
  id: ID,
  type: 'payout.completed',
  webhook_event_id: ID,
  webhook_event_type: 'payout.completed',
  api_version: '2026-11-01',
  created_at: AT,
  data: { payout: { id: 'pout_1', note: 'ส่งเงิน "}} created_at', created_at: 'not this one' } },
}
const OTHER_ORDER = { data: OWN.data, created_at: AT, type: OWN.type, id: ID }

function read(body: string): ReadEvents {
  const event = { id: ID, tenant: TENANT, type: OWN.type, sequence: 7, createdAt: instant(0), body }
  const { headers, payload } = toMessage(
    TENANT,
    [{ ...event, requestId: null, traceparent: null }],
    ID,
  )
  const values = new Map(headers)
  return fromMessage({
    subject: eventSubject(TENANT),
    payload: Buffer.from(payload),
    header: (name) => values.get(name) ?? '',
  })
}

t.test('a body is read in any order of its members', async (t) => {
  for (const members of [OWN, OTHER_ORDER, { ...OWN, further: 1 }]) {
    const body = JSON.stringify(members)
    t.same(read(body), {
      ok: true,
      events: [
        {
          ...{ id: ID, tenant: TENANT, type: OWN.type, sequence: 7 },
          ...{ createdAt: Date.parse(AT), body, requestId: null, traceparent: null },
        },
      ],
    })
  }
})

t.test('a body that is damaged anywhere is poison, not only in its head', async (t) => {
  const body = JSON.stringify(OWN)
  const poisoned = {
    'cut off': body.slice(0, -1),
    'cut off in its data': body.slice(0, 300),
    'without its first byte': body.slice(1),
    'another id': body.replace(ID, 'evt_short'),
    'an escaped id': body.replace(ID, '\\"}'),
    'another type': body.replace('payout.completed', 'payout'),
    'another time': body.replace(AT, 'yesterday'),
    'an impossible time': body.replace(AT, '2026-13-41T04:35:40.123Z'),
    'no time before its data': body.replace(`"created_at":"${AT}",`, ''),
    'a list': `[${body}]`,
  }
  for (const [what, text] of Object.entries(poisoned)) t.equal(read(text).ok, false, what)
})
