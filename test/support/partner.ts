/** The partner's client, ready for a stack under test. */
import { systemClock } from '../../src/base/clock.js'
import { createPartner, type Credentials, type Partner } from '../../src/operations/partner.js'
import { credentialsOf, type Sandbox } from '../../src/operations/sandbox.js'

export type { Answer, Extra, Partner, Session } from '../../src/operations/partner.js'

/** The demo partner, or another one of the same stack by its key. */
export function partnerOf(
  sandbox: Sandbox,
  key: Partial<Pick<Credentials, 'keyId' | 'secret' | 'host'>> = {},
): Partner {
  return createPartner({ ...credentialsOf(sandbox, 'Service'), ...key }, systemClock)
}
