/**
 * Commands about callers of gRPC: create, list, rotate, revoke.
 *
 * - An owner makes a token without the processor and gives its digest to an operator.
 * - A token that the processor makes is shown once, or written to a file that only its owner can
 *   read. If that file cannot be written the token is shown, as there is no other copy.
 */
import type { CallerRecord__Output as CallerRecord } from '../../../protos/types/causeway/operator/v1/CallerRecord.js'
import type { CallerToken__Output as CallerToken } from '../../../protos/types/causeway/operator/v1/CallerToken.js'
import type { CallerKind } from '../../auth/caller.js'
import { newCallerToken, tokenDigest } from '../../auth/caller_token.js'
import { callerEntry } from '../../auth/callers.js'
import { systemRandom } from '../../base/random.js'
import { createSecretFile, writeSecretFile } from '../../files/secret_file.js'
import { deciderOf, CHANGE } from '../cli/actor.js'
import {
  choiceOf,
  CommandFault,
  type CliCommand,
  type Context,
  type LocalCommand,
  type Report,
} from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { settingReport } from '../shards/shared_settings.js'
import { MISSING_SHARDS, missingShardsIn } from '../calls/shards.js'
import { table } from '../cli/terminal.js'

export const callersList: CliCommand = {
  usage: 'callers list',
  about: 'callers of the processor, without their tokens',
  run: async ({ callers }) => {
    const list = await callers.call('List', {})
    const head = ['name', 'kind', 'roles', 'partners', 'status', 'created', 'last used']
    const isMerged = list.data.some((caller: ShardsCaller) => caller.shards !== undefined)
    const rows = list.data.map((caller: ShardsCaller) => [
      ...callerRow(caller),
      ...(isMerged ? [caller.shards?.join(' ') ?? ''] : []),
    ])
    return { value: list, lines: [table([isMerged ? [...head, 'shards'] : head, ...rows], [])] }
  },
}

const callerRow = rowOrName(rowOf)

/** A caller, with the shards that have it if there are several processors. */
type ShardsCaller = CallerRecord & { readonly shards?: readonly string[] }

function rowOf(caller: CallerRecord): string[] {
  const { name, kind, roles, partners, status, certificate } = caller
  const created = caller.configured ? 'configured' : (caller.created_at ?? '')
  return [
    ...[name, kind, roles.join(' ') || '-', partners.join(' ') || '-'],
    ...[status, certificate === undefined ? created : `${created}, certificate ${certificate}`],
    caller.last_used_at ?? '-',
  ]
}

export const callersSelf: CliCommand = {
  usage: 'callers self',
  about: 'the operator of the token in use, and its roles',
  run: async ({ callers }) => {
    const own = await callers.call('Identify', {})
    return { value: own, lines: [`${own.name}: ${own.roles.join(' ') || 'no role'}`] }
  },
}

export const callersCreate: CliCommand = {
  usage: 'callers create KIND NAME',
  about: 'KIND: operator, service, gateway, webhooks, console; an operator needs --roles',
  options: [...CHANGE, 'roles', 'partners', 'certificate', 'token-sha256', 'token-file'],
  run: async (context, [kind = '', name = '']) => {
    const { roles, partners, certificate } = context.flags
    const issued = await context.callers.call('Create', {
      actor: deciderOf(context),
      ...{ kind, name, roles: listOf(roles), partners: listOf(partners) },
      ...(certificate === undefined ? {} : { certificate }),
      ...digestIn(context),
    })
    return sharedReport(context, issued)
  },
}

export const callersRotate: CliCommand = {
  usage: 'callers rotate NAME',
  about: 'replace the token; the previous one ends after ten minutes',
  options: [...CHANGE, 'token-sha256', 'token-file'],
  run: async (context, [name = '']) => {
    const request = { actor: deciderOf(context), name, ...digestIn(context) }
    return sharedReport(context, await context.callers.call('Rotate', request))
  },
}

const digestIn = ({ flags }: Context): { readonly token_sha256?: string } => {
  const digest = flags['token-sha256']
  return digest === undefined ? {} : { token_sha256: digest }
}

export const callersToken: LocalCommand = {
  usage: 'callers token KIND',
  about: 'make a token of your own in --token-file; prints the digest, which is no secret',
  options: ['token-file'],
  runLocally: (_paint, _settings, { args: [text = ''], flags }) => {
    const kind = choiceOf(text, [...CREATED_KINDS, 'processor']) as CallerKind
    const file = flags['token-file']
    if (file === undefined) throw new CommandFault('This needs --token-file FILE.')
    const token = newCallerToken(kind, systemRandom())
    if (createSecretFile(file, `${token}\n`) === 'exists') {
      throw new CommandFault(`${file} exists: name a new file.`)
    }
    const digest = tokenDigest(token)
    const next =
      kind === 'processor'
        ? `at the rail or the screening service: CALLERS=${callerEntry(kind, kind, token)}`
        : `another operator: callers create ${kind} NAME --token-sha256 ${digest}`
    return {
      value: { kind, token_file: file, token_sha256: digest },
      lines: [`token in ${file}`, `sha256  ${digest}`, next],
    }
  },
}

const CREATED_KINDS = ['operator', 'service', 'gateway', 'webhooks', 'console']

export const callersRevoke: CliCommand = {
  usage: 'callers revoke NAME',
  about: 'reject a caller at once and permanently',
  options: CHANGE,
  run: async (context, [name = '']) => {
    const actor = deciderOf(context)
    const revoked = await context.callers.call('Revoke', { actor, name })
    const lines = [`${revoked.name}: ${revoked.status}`]
    const missing = missingShardsIn(revoked)
    const { settings_version: version } = revoked
    if (version !== undefined) return withSetting(context, { value: revoked, lines }, version)
    const not = missing.length === 0 ? [] : [`NOT REVOKED in ${missing.join(', ')}: repeat it.`]
    return { value: revoked, lines: [...lines, ...not] }
  },
}

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

/** In a cluster also the shards that have the caller so. */
const sharedReport = (context: Context, issued: CallerToken): Promise<Report> =>
  withSetting(context, callerReport(context, issued), issued.settings_version)

/** @param version undefined if only the processor that was called has the change */
async function withSetting(
  context: Context,
  own: Report,
  version: string | undefined,
): Promise<Report> {
  const applied = await settingReport(context, version)
  // The shards that did not answer apply it too, which the report says.
  const { [MISSING_SHARDS]: _, ...value } = own.value as Readonly<Record<string, unknown>>
  return {
    value: { ...value, ...applied.value },
    lines: [...own.lines, ...applied.lines],
    exitCode: Math.max(own.exitCode ?? 0, applied.exitCode ?? 0),
  }
}

/** What is printed of a caller with its new token. */
export function callerReport({ flags }: Context, issued: CallerToken): Report {
  const { caller, token, previous_until: until } = issued
  const head = `${caller?.kind} ${caller?.name}: ${caller?.roles.join(' ') || 'no operator role'}`
  const previous = until === undefined ? [] : [`the previous token is accepted until ${until}`]
  const file = flags['token-file']
  if (token === undefined) {
    const certificate = caller?.certificate
    const credential =
      certificate === undefined ? "its owner's token" : `certificate ${certificate}`
    return { value: issued, lines: [head, `credential: ${credential}`, ...previous] }
  }
  if (file === undefined) {
    return { value: issued, lines: [head, `token  ${token}   (shown only once)`, ...previous] }
  }
  const { token: _shown, ...rest } = issued
  try {
    writeSecretFile(file, `${token}\n`)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    const shown = [head, `token  ${token}   (shown only once)`, ...previous]
    return {
      value: { ...issued, token_file_fault: fault },
      lines: [...shown, `NOT WRITTEN to ${file}: ${fault}`],
      exitCode: 1,
    }
  }
  return { value: { ...rest, token_file: file }, lines: [head, `token in ${file}`, ...previous] }
}
