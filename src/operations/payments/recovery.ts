/**
 * Commands of recovery mode, and decisions on orphan executions and held intents. Does not own: the
 * release (recovery_release).
 */
import type { OrphanRecord__Output as Orphan } from '../../../protos/types/causeway/operator/v1/OrphanRecord.js'
import type { RecoveryState__Output as RecoveryState } from '../../../protos/types/causeway/operator/v1/RecoveryState.js'
import type { ReviewedIntent__Output as ReviewedIntent } from '../../../protos/types/causeway/operator/v1/ReviewedIntent.js'
import { CHANGE, deciderOf, evidenceOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Report } from '../cli/command.js'
import { PAGE, page, pageLines, rowOrName } from '../cli/page.js'

export const recoveryShow: CliCommand = {
  usage: 'recovery show',
  about: 'whether recovery mode is active, why, and which sources are ahead',
  run: async ({ recovery }) => {
    const state = await recovery.call('Show', {})
    const mode =
      state.stops === 'submissions' ? 'Submissions to the rail are stopped' : 'Recovery mode'
    const lines = state.active
      ? [`${mode} since ${state.entered_at}: ${state.cause}.`]
      : ['Not in recovery mode.']
    if (state.unverified !== undefined) lines.push(sentence(state.unverified))
    const open = state.open_orphans
    if (open > 0) lines.push(`${open} orphan executions are open: recovery orphans`)
    lines.push(...state.behind.map(sentence))
    if (state.bus_not_checked) lines.push(BUS_NOT_CHECKED)
    return { value: state, lines: [...lines, ...neededIn(state)] }
  },
}

const BUS_NOT_CHECKED = 'The bus is not compared with the books yet: the release waits for it.'

function neededIn({ active, statement_begins, newest_at_rail }: RecoveryState): string[] {
  if (!active) return []
  const newest = newest_at_rail ?? 'not known, or none'
  return [
    `The statement of the release begins by ${statement_begins ?? 'the first movement'}.`,
    `Newest movement at the rail: ${newest}.`,
  ]
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

export const recoveryOrphans: CliCommand = {
  usage: 'recovery orphans',
  about: 'open orphan executions: executed or accepted at the rail, but not in the ledger',
  options: [...PAGE, 'resolved'],
  run: async ({ recovery, flags }) => {
    const list = await recovery.call('ListOrphans', {
      ...page(flags.cursor),
      resolved: flags.resolved ?? false,
    })
    const rows = list.data.map(rowOrName(rowOf))
    const listing = { rows, rightAligned: [2], empty: 'There are no orphan executions.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function rowOf({ currency, amount, held, matched_to: matched, ...orphan }: Orphan): string[] {
  const account = orphan.account_last4 === undefined ? '' : `****${orphan.account_last4}`
  const waiting = held.length === 0 ? '' : `held: ${held.join(' ')}`
  const status = `${orphan.status} ${matched ?? ''}`.trim()
  return [
    ...[orphan.instruction_id, orphan.executed_at, formatWireAmount(currency, amount), account],
    ...[orphan.reference ?? '', orphan.state, status, waiting],
  ]
}

export const recoveryResolve: CliCommand = {
  usage: 'recovery resolve INSTRUCTION',
  about: 'match an orphan execution with a held payment, or dismiss it',
  options: [...CHANGE, 'match', 'dismiss', 'evidence'],
  run: async (context, [instruction_id = '']) => {
    const { match, dismiss } = context.flags
    if ((match === undefined) === (dismiss !== true)) {
      throw new CommandFault('This needs --match PAYMENT or --dismiss.')
    }
    const resolved = await context.recovery.call('ResolveOrphan', {
      actor: deciderOf(context),
      instruction_id,
      resolution: match === undefined ? 'dismissed' : 'matched',
      ...(match === undefined ? {} : { payment_id: match }),
      evidence: evidenceOf(context),
    })
    const target = resolved.matched_to === undefined ? '' : ` to ${resolved.matched_to}`
    return { value: resolved, lines: [`${resolved.instruction_id}: ${resolved.status}${target}`] }
  },
}

export const intentsHeld: CliCommand = {
  usage: 'intent held',
  about: 'confirmed intents held because they equal an orphan execution, oldest first',
  options: PAGE,
  run: async ({ recovery, flags }) => {
    const list = await recovery.call('ListHeldIntents', page(flags.cursor))
    const rows = list.data.map(({ intent_id: id, tenant, currency, amount, ...held }) => [
      ...[id, tenant, formatWireAmount(currency, amount), `until ${held.deadline}`],
      ...[held.merchant_name, `equals orphan execution ${held.orphan}`],
    ])
    const listing = { rows, rightAligned: [2], empty: 'No intents are held.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

export const intentApprove: CliCommand = {
  usage: 'intent approve INTENT',
  about: 'submit an intent that is held for an orphan execution',
  options: [...CHANGE, 'other-than'],
  run: async (context, [intent_id = '']) =>
    reportOf(
      await context.recovery.call('ApproveIntent', {
        actor: deciderOf(context),
        intent_id,
        other_than: [...(context.flags['other-than'] ?? [])],
      }),
    ),
}

export const intentReject: CliCommand = {
  usage: 'intent reject INTENT',
  about: 'fail a held intent and release its reservation',
  options: CHANGE,
  run: async (context, [intent_id = '']) =>
    reportOf(await context.recovery.call('RejectIntent', { actor: deciderOf(context), intent_id })),
}

const reportOf = (intent: ReviewedIntent): Report => ({
  value: intent,
  lines: [`${intent.intent_id}: ${intent.status}`],
})
