/**
 * Commands about single payouts: those that wait for a person, and those whose end a person knows.
 *
 * Owns: reading what was typed and telling what became of it. Does not own: when a decision is
 * allowed (the payout's machine).
 */
import type { HeldPayout__Output as HeldPayout } from '../../protos/types/causeway/v1/HeldPayout.js'
import type { Payout__Output as Payout } from '../../protos/types/causeway/v1/Payout.js'
import { deciderOf, evidenceOf } from './actor.js'
import { wireInWords } from './amounts.js'
import { choiceOf, type Command, type Report } from './command.js'
import { page, pageLines } from './page.js'

export const payoutsHeld: Command = {
  usage: 'payout held',
  about: 'payouts that wait for a review, the oldest first (--cursor C: the next page)',
  run: async ({ operator, flags }) => {
    const list = await operator.call('ListHeldPayouts', page(flags.cursor))
    const rows = list.data.map(heldRow)
    const listing = { rows, toTheRight: [2], empty: 'Nothing is held.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function heldRow({ tenant, deadline, payout }: HeldPayout): string[] {
  if (payout === null) return [tenant]
  const { id, amount, currency, reference } = payout
  return [id, tenant, wireInWords(currency, amount), `until ${deadline}`, reference]
}

export const payoutApprove: Command = {
  usage: 'payout approve PAYOUT',
  about: 'let a held payout go',
  run: async (context, [payout_id = '']) =>
    told(await context.operator.call('ApprovePayout', { actor: deciderOf(context), payout_id })),
}

export const payoutReject: Command = {
  usage: 'payout reject PAYOUT',
  about: 'fail a held payout; its money is available again',
  run: async (context, [payout_id = '']) =>
    told(await context.operator.call('RejectPayout', { actor: deciderOf(context), payout_id })),
}

export const payoutResolve: Command = {
  usage: 'payout resolve PAYOUT OUTCOME',
  about: 'end an unknown outcome as completed or failed (--evidence TEXT)',
  run: async (context, [payout_id = '', outcome = '']) =>
    told(
      await context.operator.call('ResolvePayout', {
        actor: deciderOf(context),
        payout_id,
        outcome: choiceOf(outcome, ['completed', 'failed']),
        evidence: evidenceOf(context),
      }),
    ),
}

export const payoutReverse: Command = {
  usage: 'payout reverse PAYOUT',
  about: 'the money of a completed payout came back (--evidence TEXT)',
  run: async (context, [payout_id = '']) =>
    told(
      await context.operator.call('ReversePayout', {
        actor: deciderOf(context),
        payout_id,
        evidence: evidenceOf(context),
      }),
    ),
}

function told(payout: Payout): Report {
  const { id, status, amount, currency } = payout
  return { value: payout, lines: [`${id} ${wireInWords(currency, amount)}: ${status}`] }
}
