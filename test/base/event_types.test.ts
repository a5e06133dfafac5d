/** The registry of event types is complete and in the partner guide. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkUpdateWebhookEndpoint } from '../../src/api/webhook_endpoints.js'
import { EVENT_TYPES, OPT_IN_EVENTS } from '../../src/base/event_types.js'
import { projectRoot } from '../../src/base/project_root.js'
import { partnerGuidePage } from '../support/partner_guide.js'

const textOf = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8')

const isEventFilter = (types: readonly string[]): boolean =>
  checkUpdateWebhookEndpoint({ enabled_events: types }).ok

t.test('every published type is registered', async (t) => {
  const sources = [
    'actors/intent/machine.ts',
    'actors/payout/machine.ts',
    'src/processor/changes/balance_alerts.ts',
    'src/processor/commands/payouts/payout_create.ts',
  ]
  const named = /'((?:payment_intent|payout|balance)\.[a-z_]+)'/g
  const published = sources.flatMap((file) =>
    [...textOf(file).matchAll(named)].map(([, type]) => type),
  )
  t.ok(published.length > 10)
  for (const type of published) t.ok(isEventFilter([type ?? '']), String(type))
})

t.test('the guide lists all types and marks the opt-in ones', async (t) => {
  const [, guide = ''] = partnerGuidePage('webhooks').split('**Types.** ')
  const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (.*) \|$/gm)]
  t.same(
    rows.map(([, type]) => type),
    EVENT_TYPES,
  )
  const optIn = rows.filter(([, , about]) => about?.includes('opt-in')).map(([, type]) => type)
  t.same(optIn, [...OPT_IN_EVENTS])
})

t.test('an invalid filter is rejected', async (t) => {
  t.ok(isEventFilter(['*', 'payout.created']))
  for (const wrong of [['payout.*'], ['payout.created', 'payout.created'], [''], ['toString']]) {
    t.notOk(isEventFilter(wrong), wrong.join(' '))
  }
})
