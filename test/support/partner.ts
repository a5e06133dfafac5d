/** The partner's client, ready for a stack under test. */
import { systemClock } from '../../src/base/clock.js'
import { createPartner, type Partner } from '../../src/operations/partner.js'
import type { Sandbox } from '../../src/operations/sandbox.js'

export type { Answer, Extra, Partner, Session } from '../../src/operations/partner.js'

/** The demo partner, or another one of the same stack by its key. */
export function partnerOf(
  sandbox: Sandbox,
  key: { keyId: string; secret: string } = {
    keyId: sandbox.key_id,
    secret: sandbox.signing_secret,
  },
): Partner {
  return createPartner(
    { baseUrl: sandbox.base_url, host: sandbox.host, brand: 'Service', ...key },
    systemClock,
  )
}
