/**
 * The relay of a processor that may begin to publish later than it commits, or never, as in
 * recovery mode. What was committed before is an open event, with which the relay starts.
 */
import { createRelay, type Relay, type RelayOptions } from './relay.js'

export interface LateRelay extends Pick<Relay, 'push' | 'readAgain' | 'stop'> {
  start(): void
  /** Undefined until it is started. */
  backlog(): ReturnType<Relay['backlog']> | undefined
}

export function createLateRelay(options: RelayOptions): LateRelay {
  let relay: Relay | undefined
  return {
    push: (events) => relay?.push(events),
    readAgain: () => relay?.readAgain(),
    start: () => {
      relay = createRelay(options)
    },
    backlog: () => relay?.backlog(),
    stop: async () => {
      await relay?.stop()
    },
  }
}
