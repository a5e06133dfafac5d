/** Changes of partners, their keys, and callers. */
import type { KeyIssued__Output as KeyIssued } from '../../../protos/types/causeway/operator/v1/KeyIssued.js'
import { missingShardsIn } from '../../operations/calls/shards.js'
import type { Notice } from '../session/sessions.js'
import { actorOf, done, type Action, type ActionContext } from './action.js'

const partner = (ctx: ActionContext) => ({ actor: actorOf(ctx), partner_id: ctx.field('id') })

/** What is said of an issued key, whose secret can be sealed. */
export function issuedNotice({ key_id: id, secret, sealed_secret: sealed }: KeyIssued): Notice {
  if (sealed === undefined)
    return { ...done(`${id} is issued. Its secret is shown only here.`), secret }
  const text = `${id} is issued. Its secret, sealed for the partner, is shown only here.`
  return { ...done(text), secret: sealed }
}

export const PARTNER_ACTIONS: Readonly<Record<string, Action>> = {
  'suspend-partner': async (ctx) => {
    const { partner_id: id } = await ctx.clients.partners.call('Suspend', partner(ctx))
    return done(`${id} is suspended. Started payments continue.`)
  },
  'resume-partner': async (ctx) => {
    const { partner_id: id } = await ctx.clients.partners.call('Resume', partner(ctx))
    return done(`${id} can pay again.`)
  },
  'issue-key': async (ctx) => {
    const environment = ctx.field('environment')
    const tenant = { partner_id: ctx.field('id'), environment }
    const issued = await ctx.clients.operator.call('IssueKey', { actor: actorOf(ctx), tenant })
    return issuedNotice(issued)
  },
  'revoke-key': async (ctx) => {
    const request = { actor: actorOf(ctx), key_id: ctx.field('key') }
    const { key_id: id } = await ctx.clients.partners.call('RevokeKey', request)
    return done(`${id} is revoked.`)
  },
  'revoke-caller': async (ctx) => {
    const request = { actor: actorOf(ctx), name: ctx.field('name') }
    const revoked = await ctx.clients.callers.call('Revoke', request)
    // A setting of the cluster is applied by the shards that did not answer too.
    const missing = revoked.settings_version === undefined ? missingShardsIn(revoked) : []
    if (missing.length === 0) return done(`${revoked.name} is revoked.`)
    const text = `${revoked.name} is NOT revoked in ${missing.join(', ')}: repeat it.`
    return { tone: 'bad', text }
  },
}
