/** Changes of webhook endpoints and their deliveries. */
import { missingLines } from '../../operations/partners/webhooks.js'
import { actorOf, done, type Action, type ActionContext } from './action.js'

const endpoint = (ctx: ActionContext) => ({ actor: actorOf(ctx), endpoint_id: ctx.field('id') })

export const WEBHOOK_ACTIONS: Readonly<Record<string, Action>> = {
  'enable-endpoint': async (ctx) => {
    const switched = await ctx.clients.webhooks.call('EnableEndpoint', endpoint(ctx))
    return done(`${switched.endpoint_id} is ${switched.status}.`)
  },
  'disable-endpoint': async (ctx) => {
    const switched = await ctx.clients.webhooks.call('DisableEndpoint', endpoint(ctx))
    return done(`${switched.endpoint_id} is ${switched.status}.`)
  },
  /** One delivery, or the failed ones of an endpoint. */
  redrive: async (ctx) => {
    const delivery = ctx.field('delivery')
    const sent = await ctx.clients.webhooks.call('Redrive', {
      ...(delivery === '' ? endpoint(ctx) : { actor: actorOf(ctx), delivery_id: delivery }),
      since: '0',
    })
    const { redriven, more } = sent
    const rest = more ? ' There are more: repeat it.' : ''
    const what = redriven === 1 ? 'delivery is' : 'deliveries are'
    const text = `${redriven} ${what} sent again.${rest}`
    const missing = missingLines(sent)
    return missing.length === 0 ? done(text) : { tone: 'warn', text: [text, ...missing].join('\n') }
  },
}
