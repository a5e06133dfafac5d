/**
 * Calls of operators to all shards: each rpc goes to the shard it is about, or to every one.
 *
 * - A call about one partner or entity is tried at each shard until one has it. A refused call has
 *   changed nothing; a call without an answer is not tried elsewhere. An orphan execution can be in
 *   several shards: what is decided about it in one is decided in all.
 * - A list is read from every shard and names those that do not answer.
 * - In a cluster a setting for all shards is stored by any processor, and each shard applies it.
 * - Any other rpc is about the books of one shard, which the operator names with `--shard`.
 */
import type { MethodDefinition } from '@grpc/proto-loader'
import type { Clock } from '../../base/clock.js'
import {
  callsToOne,
  NotSent,
  Refused,
  type Calls,
  type NameIn,
  type OperatorAccess,
  type Service,
  type Shards,
} from './calls.js'
import { CommandFault } from './command_fault.js'
import { mergedPage, type ListOrder, type ListPage, type PageSource } from './merged_list.js'
import { policyOf, type Elsewhere, type Message } from './shard_policies.js'
import { MISSING_SHARDS } from './shards.js'

export type ShardCall = (request: Message) => Promise<Message>

export function callsToShards<Definition>(
  Service: Service<Definition>,
  access: Omit<OperatorAccess, 'address'>,
  shards: Shards,
  clock: Clock,
): Calls<Definition> {
  const clients = new Map(
    [...shards.reached].map(([shard, address]) => {
      return [shard, callsToOne(Service, { ...access, address }, clock)] as const
    }),
  )
  return {
    call: async <N extends NameIn<Definition>>(name: N, request: never) => {
      const { path } = Service.service[name] as MethodDefinition<object, object>
      // The types of single methods end here: a policy combines the answers of any of them.
      const calls = new Map(
        [...clients].map(([shard, client]): [string, ShardCall] => [
          shard,
          (message) => client.call(name, message as never) as Promise<Message>,
        ]),
      )
      return (await answerOf(path, request, calls, shards)) as never
    },
    close: () => {
      for (const client of clients.values()) client.close()
    },
  }
}

/** Calls the shards that an rpc goes to, and combines their answers. */
export async function answerOf(
  path: string,
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
  shards: Shards,
): Promise<Message> {
  if (calls.size === 0) throw new NotSent('No processor of PROCESSORS has a shard.')
  const policy = policyOf(path, request)
  switch (policy.kind) {
    case 'any':
      return [...calls.values()][0]!(request)
    case 'pools':
      return poolsAnswer(request, calls)
    case 'holder': {
      const answer = await holdersAnswer(request, calls, shards)
      const { elsewhere } = policy
      return elsewhere === undefined
        ? answer
        : changedElsewhere(request, calls, shards, { answer, ...elsewhere })
    }
    case 'list':
      return listed(request, calls, shards, policy.order)
    case 'combined':
      return everyAnswer(request, calls, shards, policy.combine)
    case 'everywhere':
      return changedEverywhere(request, calls, shards, policy.except)
    case 'shared':
      if (!shards.isCluster) throw unnamed(calls)
      if (policy.by === 'holder') return holdersAnswer(request, calls, shards)
      return [...calls.values()][0]!(request)
    case 'named':
      throw unnamed(calls)
  }
}

const unnamed = (calls: ReadonlyMap<string, ShardCall>): CommandFault =>
  new CommandFault(
    `This is about one shard: name it with --shard, of ${[...calls.keys()].join(', ')}.`,
  )

/**
 * A cursor continues the list of the processor that gave it, so it names its shard, which can be an
 * address.
 */
async function poolsAnswer(
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
): Promise<Message> {
  const { cursor, ...own } = request
  if (typeof cursor === 'string') {
    const [, shard = cursor, at = ''] = /^(.*):(.*)$/.exec(cursor) ?? []
    const call = calls.get(shard)
    if (call === undefined) throw new CommandFault(`The cursor is of ${shard}, which is missing.`)
    return withShard(shard, await call({ ...own, cursor: at }))
  }
  let failure: unknown
  for (const [shard, call] of calls) {
    try {
      return withShard(shard, await call(request))
    } catch (error) {
      if (error instanceof Refused) throw error
      failure ??= error
    }
  }
  throw failure
}

function withShard(shard: string, answer: Message): Message {
  const { next_cursor: cursor } = answer
  return typeof cursor === 'string' ? { ...answer, next_cursor: `${shard}:${cursor}` } : answer
}

async function holdersAnswer(
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
  { missing }: Shards,
): Promise<Message> {
  let refusal: Refused | undefined
  for (const [shard, call] of calls) {
    try {
      return await call(request)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const isFirst = refusal === undefined || refusal.code === 'not_here'
      const isResolved = error.code === 'orphan_execution_resolved'
      // It refuses before it looks whether it has the entity.
      if (error.code === IN_RECOVERY)
        refusal = new Refused(error.code, `${shard}: ${error.message}`)
      else if (!isOfOtherShard(error.code, request)) throw error
      else if (isFirst || isResolved) refusal = error
    }
  }
  if (missing.length === 0) throw refusal!
  throw new Refused(refusal!.code, `${refusal!.message}\nNot reached: ${missing.join(', ')}.`)
}

const IN_RECOVERY = 'recovery_active'

/**
 * A processor without cluster finds the tenant of another one invalid. An orphan execution that one
 * shard has dismissed can be matched in another.
 */
const isOfOtherShard = (code: string, request: Message): boolean =>
  code === 'not_here' ||
  code === 'orphan_execution_resolved' ||
  code.endsWith('_not_found') ||
  code === 'not_found' ||
  (code === 'invalid_request' && Boolean(request['tenant']))

/** The answer of the shard that made the change, and the shards that have not made it as well. */
async function changedElsewhere(
  of: Message,
  calls: ReadonlyMap<string, ShardCall>,
  { missing }: Shards,
  { answer, request, except }: Elsewhere & { readonly answer: Message },
): Promise<Message> {
  const silent = new Set(missing)
  for (const [shard, call] of calls) {
    try {
      await call(request(of))
    } catch (error) {
      if (!(error instanceof Refused && except.includes(error.code))) silent.add(shard)
    }
  }
  return withMissing(answer, silent)
}

async function listed(
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
  { missing }: Shards,
  order: ListOrder,
): Promise<Message> {
  const silent = new Set(missing)
  const { cursor, ...own } = request
  const sources = new Map(
    [...calls].map(([shard, call]): [string, PageSource] => [
      shard,
      async (at) => {
        const page = await answerOrNull(call, at === undefined ? own : { ...own, cursor: at })
        if (page === null) silent.add(shard)
        return page as ListPage | null
      },
    ]),
  )
  const page = await mergedPage(sources, order, cursor as string | undefined)
  return withMissing({ ...page }, silent)
}

async function everyAnswer(
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
  { missing }: Shards,
  combine: (answers: readonly Message[], shards: readonly string[]) => Message,
): Promise<Message> {
  const silent = new Set(missing)
  const answers = new Map<string, Message>()
  await Promise.all(
    [...calls].map(async ([shard, call]) => {
      const answer = await answerOrNull(call, request)
      if (answer === null) silent.add(shard)
      else answers.set(shard, answer)
    }),
  )
  const shards = [...calls.keys()].filter((shard) => answers.has(shard))
  const inOrder = shards.map((shard) => answers.get(shard)!)
  return withMissing(combine(inOrder, shards), silent)
}

/**
 * The answer of a shard that made the change, and the shards that do not answer. @throws Refused
 * when none has made it, or one refuses it where there is something to change
 */
async function changedEverywhere(
  request: Message,
  calls: ReadonlyMap<string, ShardCall>,
  { missing }: Shards,
  except: readonly string[],
): Promise<Message> {
  const silent = new Set(missing)
  let changed: Message | undefined
  let nothingToChange: Refused | undefined
  const refusals: Refused[] = []
  for (const [shard, call] of calls) {
    try {
      changed = await call(request)
    } catch (error) {
      if (!(error instanceof Refused)) silent.add(shard)
      else if (except.includes(error.code)) nothingToChange = error
      else refusals.push(new Refused(error.code, `${shard}: ${error.message}`))
    }
  }
  const [refusal = nothingToChange] = refusals
  if (refusals.length === 0 && changed !== undefined) return withMissing(changed, silent)
  const unreached = silent.size === 0 ? [] : [`Not reached: ${[...silent].sort().join(', ')}.`]
  if (refusal === undefined) throw new Error(unreached.join())
  const texts = (refusals.length === 0 ? [refusal] : refusals).map(({ message }) => message)
  throw new Refused(refusal.code, [...texts, ...unreached].join('\n'))
}

const withMissing = (answer: Message, silent: ReadonlySet<string>): Message =>
  silent.size === 0 ? answer : { ...answer, [MISSING_SHARDS]: [...silent].sort() }

/** Null without an answer. @throws Refused */
async function answerOrNull(call: ShardCall, request: Message): Promise<Message | null> {
  try {
    return await call(request)
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  }
}
