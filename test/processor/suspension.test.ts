/** What a suspended partner can no longer begin, and what goes on. */
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { createFxConversion } from '../../src/processor/commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { aPayout, anIntent } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import { authorized, beginLifecycle, captured, scanned } from './intent_lifecycle.js'
import { executed, OPERATOR, payout, runOnBothStores, see } from './scenarios.js'

const CONVERSION = { sell_currency: 'USD', sell_amount: '1000', buy_currency: 'THB' }

const suspend = async (world: World): Promise<void> =>
  void viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' })))

runOnBothStores({
  'a suspended partner begins nothing': async (t, world) => {
    const fresh = await beginLifecycle(world)
    const quoted = await beginLifecycle(world)
    await scanned(quoted)
    const quote = viewOf<{ id: string }>(await world.run(createFxQuote(DEMO, CONVERSION)))
    await suspend(world)
    const conversion = { quote_id: quote.id, idempotency_key: 'convert' }
    const begun = {
      'an intent': await world.run(createIntent(DEMO, anIntent())),
      'a scan': await fresh.scan(),
      'a confirm': await quoted.confirm(),
      'a session token of an open intent': await quoted.remint(),
      'a beneficiary': await world.run(createBeneficiary(DEMO, aPayout().beneficiary!)),
      'a payout': await world.run(createPayout(DEMO, payout())),
      'a deposit': await world.run(
        depositSandboxFunds(DEMO, { currency: 'VND', amount: '1', idempotency_key: 'deposit' }),
      ),
      'an FX quote': await world.run(createFxQuote(DEMO, CONVERSION)),
      'a conversion': await world.run(createFxConversion(DEMO, conversion)),
    }
    for (const [what, answer] of Object.entries(begun)) {
      t.equal(codeOf(answer), 'partner_suspended', what)
    }
  },

  'what a suspended partner has begun goes on': async (t, world) => {
    const [open, waiting, paid] = [
      await beginLifecycle(world),
      await beginLifecycle(world),
      await beginLifecycle(world),
    ]
    await authorized(waiting)
    await captured(paid)
    const request = payout()
    const { id } = viewOf<{ id: never }>(await world.run(createPayout(DEMO, request)))
    await suspend(world)
    t.equal(codeOf(await world.run(createPayout(DEMO, request))), 'ok', 'a replay')
    t.equal(codeOf(await open.cancel()), 'ok')
    t.equal(codeOf(await waiting.remint()), 'ok', 'a session token to poll with')
    t.equal(codeOf(await paid.refund()), 'ok')
    t.equal(codeOf(await paid.get()), 'ok')
    await waiting.executed()
    t.equal((await waiting.see()).status, 'captured')
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
  },
})
