/** Refused commands give their places back: of the partner, and at the processor. */
import t from 'tap'
import { TENANT_IN_FLIGHT_MAX } from '../../gateway/admission/limits.js'
import { CAPACITY_MAX } from '../../gateway/admission/request_scheduler.js'
import { accept, refuseWith } from './processor_stub.js'
import { startGateway } from './running_gateway.js'
import { call, createRequest, snapshot } from './signing_partner.js'

const REFUSED = Math.max(TENANT_IN_FLIGHT_MAX, CAPACITY_MAX)
const AT_ONCE = 50

t.test(`after ${REFUSED} refused commands a request is served`, async (t) => {
  const gateway = await startGateway(t, {
    script: refuseWith('insufficient_balance'),
    partners: snapshot({ rate_limit_per_second: 100_000 }),
    environment: { RATE_LIMIT_PER_ADDRESS: '100000' },
  })
  for (let sent = 0; sent < REFUSED; sent += AT_ONCE) {
    const calls = Array.from({ length: AT_ONCE }, () => call(gateway.port, createRequest()))
    const statuses = new Set((await Promise.all(calls)).map(({ status }) => status))
    if (statuses.size === 1 && statuses.has(422) && gateway.processor.inFlight === 0) continue
    t.fail(`after ${sent} commands: ${[...statuses].join()}`)
    return
  }
  gateway.processorStub.script = accept
  t.equal(await gateway.status(createRequest()), 201)
})
