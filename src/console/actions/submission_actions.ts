/** Pauses of the submissions to rails. */
import { actorOf, done, type Action, type ActionContext } from './action.js'

const change = (ctx: ActionContext) => ({ actor: actorOf(ctx), subject: ctx.field('subject') })

export const SUBMISSION_ACTIONS: Readonly<Record<string, Action>> = {
  'pause-submissions': async (ctx) => {
    const paused = await ctx.clients.operator.call('PauseSubmissions', change(ctx))
    return done(`${paused.subject} is paused. ${reachOf(paused)}`.trimEnd())
  },
  'resume-submissions': async (ctx) => {
    const resumed = await ctx.clients.operator.call('ResumeSubmissions', change(ctx))
    return done(`${resumed.subject} is submitted again. ${reachOf(resumed)}`.trimEnd())
  },
}

/** In a cluster each shard applies it by itself. */
const reachOf = ({ settings_version: version }: { readonly settings_version?: string }): string =>
  version === undefined
    ? ''
    : `Settings version ${version}: the page of the shards shows which of them have applied it.`
