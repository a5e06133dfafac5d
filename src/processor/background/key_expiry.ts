/**
 * Records the revocation of signing keys whose overlap with a newer key has ended.
 *
 * - Requests are checked against the clock (cache/tenant_directory); within a second the revocation
 *   is stored and sent to the gateways, so setting the clock back does not undo it.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import { expireKeys, hasExpiredKeys } from '../commands/partners/key_revoke.js'
import { internalWork } from '../cycle/command.js'
import type { Pipeline } from '../cycle/pipeline.js'
import type { Memory } from '../cache/memory.js'

export interface KeyExpiry {
  start(): void
  stop(): void
}

export interface KeyExpiryDependencies {
  readonly clock: Clock
  readonly memory: Pick<Memory, 'keys'>
  readonly pipeline: Pick<Pipeline, 'submit'>
}

export function createKeyExpiry({ clock, memory, pipeline }: KeyExpiryDependencies): KeyExpiry {
  let timer: NodeJS.Timeout | undefined
  let isSubmitted = false

  const expire = (): void => {
    if (isSubmitted || !hasExpiredKeys(memory.keys.values(), clock.now())) return
    isSubmitted = true
    const expired = (): void => void (isSubmitted = false)
    pipeline.submit(internalWork(expireKeys(), 'timer', expired))
  }

  return {
    start: () => {
      expire()
      timer = setInterval(expire, SECOND)
    },
    stop: () => clearInterval(timer),
  }
}
