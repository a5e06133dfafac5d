/** Webhook endpoints as a partner keeps them: warm, and rebuilt before every command. */
import t from 'tap'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import {
  createWebhookEndpoint,
  listWebhookEndpoints,
} from '../../src/processor/commands/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoint_delete.js'
import { codeOf, createWorld, DEMO, viewOf } from '../support/world.js'

const STRANGER = tenantOf('acme' as PartnerId, 'sandbox')
const request = (
  url = 'https://example.com/hooks?a=b',
): Parameters<typeof createWebhookEndpoint>[1] => ({
  url,
  enabled_events: [],
})

for (const rebuilt of [false, true]) {
  void t.test(`created, listed, deleted, ${rebuilt ? 'rebuilt' : 'warm'}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const listed = async (): Promise<{ id: string; secret?: string }[]> =>
      viewOf<{ data: { id: string }[] }>(await world.run(listWebhookEndpoints(DEMO))).data
    const made = viewOf<{ id: string; secret: string }>(
      await world.run(createWebhookEndpoint(DEMO, request())),
    )
    t.match(made.secret, /^whsec_/)
    t.same(
      (await listed()).map(({ id }) => id),
      [made.id],
    )
    t.notOk('secret' in (await listed())[0]!, 'the secret is shown once')

    const gone = (tenant = DEMO) => world.run(deleteWebhookEndpoint(tenant, made.id))
    t.equal(codeOf(await gone(STRANGER)), 'webhook_endpoint_not_found')
    t.match(viewOf(await gone()), { id: made.id, status: 'deleted' })
    t.equal(codeOf(await gone()), 'webhook_endpoint_not_found')
    t.same(await listed(), [])
  })

  void t.test(`sixteen are the most, ${rebuilt ? 'rebuilt' : 'warm'}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const add = () => world.run(createWebhookEndpoint(DEMO, request()))
    for (let i = 0; i < 15; i++) t.equal(codeOf(await add()), 'ok')
    const { id } = viewOf<{ id: string }>(await add())
    t.equal(codeOf(await add()), 'webhook_endpoint_limit')
    await world.run(deleteWebhookEndpoint(DEMO, id))
    t.equal(codeOf(await add()), 'ok', 'a deleted one makes room')
    for (const url of ['', 'ftp://x/', 'http://user@x/', 'https://x/#part', 'no']) {
      t.equal(codeOf(await world.run(createWebhookEndpoint(DEMO, request(url)))), 'invalid_request')
    }
  })
}
