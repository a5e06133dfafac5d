/** Webhook endpoints of a tenant, and the commands on one under short names. */
import { tenantOf, type EndpointId, type PartnerId } from '../../src/base/ids.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_delete.js'
import { getWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_get.js'
import {
  disableWebhookEndpoint,
  switchAnyEndpoint,
  switchWebhookEndpoint,
} from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_switch.js'
import { testWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_test.js'
import { updateWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_update.js'
import { rotateWebhookSecret } from '../../src/processor/commands/webhook_endpoints/webhook_secret_rotate.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { DEMO, viewOf, type World } from '../support/world.js'

export const OTHER_TENANT = tenantOf('acme' as PartnerId, 'sandbox')

export const UNCHANGED = { enabled_events: null }

type Request = Parameters<typeof createWebhookEndpoint>[1]

export const request = (url = 'https://example.com/hooks?a=b'): Request => ({
  url,
  enabled_events: [],
})

export type View = Record<string, unknown> & {
  readonly id: string
  readonly key_id: string
  readonly secret: string
}

export const tryEndpoint = (
  world: World,
  given: Partial<Request> = {},
  tenant = DEMO,
): Promise<Answer> => world.run(createWebhookEndpoint(tenant, { ...request(), ...given }))

/** Creates one. */
export async function anEndpoint(world: World, given: Partial<Request> = {}, tenant = DEMO) {
  const made = viewOf<View>(await tryEndpoint(world, given, tenant))
  return { made, ...callsOn(world, made.id, tenant) }
}

export function callsOn(world: World, id: string, tenant = DEMO) {
  const anna = { name: 'anna', reason: 'ticket 7' }
  const endpoint = { endpoint_id: id }
  return {
    id,
    entry: () => world.memory().endpoints.get(id as EndpointId),
    get: () => world.run(getWebhookEndpoint(tenant, id)),
    see: async () => viewOf<View>(await world.run(getWebhookEndpoint(tenant, id))),
    update: (given: object) =>
      world.run(updateWebhookEndpoint(tenant, { ...UNCHANGED, ...endpoint, ...given })),
    /** @param at when the new secret signs */
    rotate: (at?: number) => {
      const activation = at === undefined ? {} : { activate_at: String(at) }
      return world.run(rotateWebhookSecret(tenant, { ...endpoint, ...activation }))
    },
    turn: (to: 'enabled' | 'disabled') => world.run(switchWebhookEndpoint(tenant, id, to)),
    turnByOperator: (to: 'enabled' | 'disabled') => world.run(switchAnyEndpoint(anna, id, to)),
    disableByPool: (reason: string, failedUrl?: string) =>
      world.run(disableWebhookEndpoint(id as EndpointId, reason, failedUrl)),
    test: () => world.run(testWebhookEndpoint(tenant, id)),
    remove: () => world.run(deleteWebhookEndpoint(tenant, id)),
  }
}
