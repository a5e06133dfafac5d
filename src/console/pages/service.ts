/** The shards and their owners, and the callers of the processors. */
import type { CallerRecord__Output as Caller } from '../../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { ShardList__Output as ShardList } from '../../../protos/types/causeway/operator/v1/ShardList.js'
import type { ShardRecord__Output as Shard } from '../../../protos/types/causeway/operator/v1/ShardRecord.js'
import type { WaitingProcessor__Output as Waiting } from '../../../protos/types/causeway/operator/v1/WaitingProcessor.js'
import { Refused } from '../../operations/calls/calls.js'
import { actions, type ActionForm } from '../html/action_forms.js'
import { html, NOTHING, type Content, type Html } from '../html/html.js'
import { badge, card, commandLine, empty, table, time } from '../html/parts.js'
import { formContext, part, type ConsolePage, type PageContext } from '../session/console_page.js'
import { withShards } from '../session/uplink.js'
import { listCard, number, rowOrName } from './list_card.js'

export const shards: ConsolePage = {
  path: '/shards',
  render: async (context) => {
    const list = shardsOf(context)
    return {
      title: 'Shards',
      live: await part('The shards', list, (shown) =>
        shown === null
          ? card('One set of books', empty('This processor has all partners: there is no cluster.'))
          : shardsCard(shown),
      ),
      body: moveCard(context, await list.catch(() => null)),
    }
  },
}

function moveCard(context: PageContext, list: ShardList | null): Html {
  const [first] = list?.data ?? []
  const [candidate] = list?.candidates ?? []
  if (list === null || first === undefined || candidate === undefined) return NOTHING
  const move: ActionForm = {
    ...{ action: 'move-shard', title: 'Move a shard', button: 'Move the shard' },
    about: 'Its owner finishes what it has begun. Its partners wait until the other one serves.',
    fields: [
      {
        ...{ name: 'shard', label: 'Shard' },
        choices: list.data.map(({ shard, processor }) => [
          shard,
          processor === '' ? shard : `${shard}, now at ${processor}`,
        ]),
      },
      {
        ...{ name: 'to', label: 'Processor that takes it' },
        choices: list.candidates.map((name) => [name, name]),
      },
    ],
    isDangerous: true,
  }
  return card(
    'Move',
    html`${actions(formContext(context, '/shards'), 'decide', [move])}
    ${commandLine(`shard move ${first.shard} --to ${candidate}`)}`,
  )
}

/** Null without a cluster. */
async function shardsOf({ clients }: PageContext): Promise<ShardList | null> {
  try {
    return await withShards(clients, (service) => service.call('List', {}))
  } catch (error) {
    if (error instanceof Refused && error.code === 'cluster_not_configured') return null
    throw error
  }
}

const shardsCard = ({ data, waiting }: ShardList): Html =>
  card(
    'Shards and their owners',
    html`${table({
      caption: 'Shards, by name',
      columns: [
        ...['Shard', 'State', 'Processor', 'Address', number('Epoch')],
        ...[number('Partners'), number('Moves'), 'Settings'],
      ],
      rows: data.map(shardRow),
      empty: 'There are no shards yet.',
    })}
    ${table({
      caption: 'Processors that wait for a shard',
      columns: ['Waiting', 'Address', number('Gateways'), 'Takes'],
      rows: waiting.map(waitingRow),
      empty: 'No processor waits for a shard: a lost owner is not replaced.',
    })}
    ${commandLine('shard list')}`,
  )

const waitingRow = ({ name, address, prefers, ...waiting }: Waiting): readonly Content[] => [
  html`<strong>${name}</strong>`,
  address,
  String(waiting.gateways),
  html`any shard${prefers && `, ${prefers} first`}
  ${waiting.cannot_take.map(
    ({ shard, reason }) =>
      html`<span class="line">${badge(`not ${shard}`, 'warn')} ${reason}</span>`,
  )}`,
]

const shardRow = (shard: Shard): readonly Content[] => [
  html`<strong>${shard.shard}</strong>`,
  stateOf(shard),
  shard.processor,
  shard.address,
  shard.epoch,
  String(shard.partners),
  shard.moves,
  settingsOf(shard),
]

function stateOf({ moving_to: target, processor, connected, epoch }: Shard): Html {
  if (target !== undefined) return badge(`moves to ${target}`, 'warn')
  if (epoch === '0') return badge('new')
  if (processor === '') return badge('released', 'warn')
  return connected ? badge('owned', 'good') : badge('owner lost', 'bad')
}

function settingsOf({ settings_version: version, settings_behind: behind, ...shard }: Shard): Html {
  const { settings_fault: fault } = shard
  if (fault) {
    const what = `cannot apply ${fault.kind} ${fault.key}: ${fault.cause}`
    return html`${badge('no writes', 'bad')} ${what}`
  }
  return html`${version} ${behind === '0' ? NOTHING : badge(`${behind} behind`, 'warn')}`
}

export const callers: ConsolePage = {
  path: '/callers',
  render: async (context) => ({
    title: 'Callers',
    body: await listCard(context, {
      title: 'Operators, services and processes',
      call: context.clients.callers.call('List', {}),
      caption: 'Callers of the processors, by name',
      columns: ['Name', 'Kind', 'May', 'State', 'Created', 'Last used', ''],
      row: rowOrName(callerRow),
      empty: 'There are no callers.',
      command: 'callers list',
    }),
  }),
}

/** Those of our own processes are replaced at each start. */
const REVOCABLE = ['operator', 'service']

function callerRow(caller: Caller, context: PageContext): readonly Content[] {
  const { name, kind, roles, partners, status, certificate } = caller
  const revoke: ActionForm = {
    ...{ action: 'revoke-caller', title: 'Revoke', button: 'Revoke the caller' },
    about: 'At once and for good. Sessions of this console end too.',
    hidden: { name },
    isDangerous: true,
  }
  const isRevocable = status === 'active' && REVOCABLE.includes(kind)
  return [
    html`<strong>${name}</strong> ${
        certificate === undefined ? NOTHING : html`<span class="ago">${certificate}</span>`
      }`,
    kind,
    [...roles, ...partners].join(', '),
    badge(status),
    caller.configured ? 'configured' : time(caller.created_at, context.now),
    caller.last_used_at === undefined ? 'never' : time(caller.last_used_at, context.now),
    isRevocable && actions(formContext(context, '/callers'), 'decide', [revoke]),
  ]
}
