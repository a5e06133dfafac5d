/** Races for intents. */
import { pathOf } from '../support/lifecycle.js'
import { withKey, type HttpAnswer } from '../support/partner.js'
import { intentIn, requestIntent, retryUntilFinal } from '../support/payments.js'
import { vietQr } from '../support/requests.js'
import { createRecorder } from './history.js'
import { intent, type IntentInput, type IntentOutput } from './models.js'
import { codeOf, faultsOf, once, untilAnswered, type Race, type Racers } from './race.js'

const REFUSALS: readonly unknown[] = [
  'payment_intent_not_scannable',
  'payment_intent_not_confirmable',
  'payment_intent_not_cancelable',
  'already_confirmed',
  'quote_required',
  'authentication_failed',
]

/** Scans, confirms with two keys, cancels and reads of the same intents. */
export async function intentRace(racers: Racers): Promise<Race> {
  const { partners, rounds, name = '' } = racers
  const intents = await Promise.all(
    Array.from({ length: rounds }, async (_, round) => {
      const over = { corridor: 'vn_vietqr', partner_user_id: `racer ${name}${round}` }
      const key = `create ${name}${round}`
      const created = await retryUntilFinal(() => requestIntent(partners[0], key, over))
      const { id, token } = intentIn(created)
      return { path: pathOf(id), token, recorder: createRecorder<IntentInput, IntentOutput>() }
    }),
  )
  return {
    run: async (client) => {
      const partner = partners[client]!
      const amount = String(100_000 + 1_000 * client)
      for (const [round, { path, token, recorder }] of intents.entries()) {
        const app = partner.session(token)
        const key = `confirm ${name}${round} ${client % 2}`
        const attempt = (input: IntentInput, call: () => Promise<HttpAnswer>) =>
          recorder.record(input, () => once<IntentOutput>(racers, call, viewOf))

        await attempt({ kind: 'scan', amount }, () =>
          app.request('POST', `${path}/scan`, { qr_payload: vietQr(amount) }),
        )
        if (client === round % partners.length) {
          await attempt({ kind: 'cancel' }, () => partner.request('POST', `${path}/cancel`))
        } else {
          await recorder.record({ kind: 'confirm', key }, () =>
            untilAnswered<IntentOutput>(
              racers,
              () => app.request('POST', `${path}/confirm`, undefined, withKey(key)),
              viewOf,
            ),
          )
        }
        await attempt({ kind: 'read' }, () => partner.request('GET', path))
      }
    },
    faults: () =>
      intents.flatMap(({ path, recorder }) => faultsOf(path, intent, recorder.operations)),
    hasEveryOutcome: () => {
      const outputs = intents.flatMap(({ recorder }) => recorder.operations).map(statusOf)
      return outputs.includes('cancelled') && outputs.includes('authorized')
    },
  }
}

function viewOf(answer: HttpAnswer): IntentOutput | 'unexpected' {
  if (REFUSALS.includes(codeOf(answer))) return 'refused'
  if (answer.status !== 200) return 'unexpected'
  const { status, quote } = answer.body as {
    readonly status: string
    readonly quote?: { readonly local_amount_minor_units: string }
  }
  return { status, amount: quote?.local_amount_minor_units }
}

const statusOf = ({ output }: { readonly output: IntentOutput | undefined }) =>
  typeof output === 'object' ? output.status : output
