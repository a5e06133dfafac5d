/**
 * Revokes signing keys for good when their overlap with a newer key ends.
 *
 * - The end itself is judged by the clock (cache/tenant_directory); within a second it is on disk
 *   and at the gateways, and a clock that is set back does not undo it.
 */
import { SECOND, type Clock } from '../../base/clock.js'
import { expireKeys, hasExpiredKeys } from '../commands/partners/key_revoke.js'
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
  let isUnderWay = false

  const expire = (): void => {
    if (isUnderWay || !hasExpiredKeys(memory.keys.values(), clock.now())) return
    isUnderWay = true
    pipeline.submit({
      queueKey: 'ours',
      command: expireKeys(),
      deadline: null,
      signedBy: null,
      reply: () => {
        isUnderWay = false
      },
    })
  }

  return {
    start: () => {
      expire()
      timer = setInterval(expire, SECOND)
    },
    stop: () => clearInterval(timer),
  }
}
