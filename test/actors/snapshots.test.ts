/** The first snapshot of an actor equals that of XState, and every state can be restored. */
import t from 'tap'
import { createActor } from 'xstate'
import type { IntentContext } from '../../actors/intent/context.js'
import { intentMachine } from '../../actors/intent/machine.js'
import type { PayoutContext } from '../../actors/payout/context.js'
import { payoutMachine } from '../../actors/payout/machine.js'
import { createActorHost } from '../../src/processor/cache/actor_host.js'
import { openIntent } from '../../actors/intent/actor.js'
import { openPayout } from '../../actors/payout/actor.js'

const intent = { id: 'pi_1', wakeAt: 1 } as unknown as IntentContext
const payout = { id: 'pout_1', wakeAt: 1 } as unknown as PayoutContext

void t.test('the first snapshot equals that of XState', async (t) => {
  const ofIntent = createActorHost('created', openIntent).begin(intent)
  const byXState = createActor(intentMachine, { input: intent }).start().getSnapshot()
  t.same([ofIntent.state, ofIntent.context], [byXState.value, byXState.context])

  const ofPayout = createActorHost('created', openPayout).begin(payout)
  const payoutByXState = createActor(payoutMachine, { input: payout }).start().getSnapshot()
  t.same([ofPayout.state, ofPayout.context], [payoutByXState.value, payoutByXState.context])
})

void t.test('every state can be restored', async (t) => {
  for (const machine of [intentMachine, payoutMachine]) {
    for (const state of Object.keys(machine.states)) {
      const snapshot = machine.resolveState({ value: state, context: {} as never })
      t.equal(snapshot.value, state)
      t.equal(
        snapshot.status,
        machine.states[state as never]!['type'] === 'final' ? 'done' : 'active',
      )
    }
  }
})
