/** Webhook endpoints of a tenant, as its requests create them. */
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import type { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'

export const OTHER_TENANT = tenantOf('acme' as PartnerId, 'sandbox')

export const UNCHANGED = { enabled_events: null }

export const request = (
  url = 'https://example.com/hooks?a=b',
): Parameters<typeof createWebhookEndpoint>[1] => ({
  url,
  enabled_events: [],
})

export type View = Record<string, unknown> & { readonly id: string; readonly key_id: string }
