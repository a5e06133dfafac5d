/** What a redrive refuses before it is logged and sent to a pool. */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { webhookAdminService } from '../../src/processor/servers/webhook_admin.js'

t.test('a redrive since no moment, or of no endpoint, is refused', async (t) => {
  const dependencies = { memory: { endpoints: new Map() } }
  const { Redrive } = webhookAdminService(dependencies as never, {} as never)
  const codeOf = (request: object): unknown => {
    let code: unknown = 'passed on'
    const call = { request: { actor: null, since: '0', ...request } }
    Redrive(call as never, (error) => (code = error?.code))
    return code
  }
  for (const since of [String(2n ** 60n), '8640000000000001', '-1']) {
    t.equal(codeOf({ since }), status.INVALID_ARGUMENT, since)
  }
  t.equal(codeOf({ endpoint_id: 'we_x' }), status.NOT_FOUND)
})
