/**
 * A client whose channel is closed and opened again while it does not connect.
 *
 * - grpc-js has no bound for connecting: a peer that accepts a connection and sends nothing, such
 *   as a machine without power, is waited for until TCP gives up, also when its successor answers.
 * - What is in progress on the closed channel ends as on a connection that broke: callers of
 *   commands do not know the outcome, and repeat them with their keys.
 */
import { connectivityState, type ChannelOptions, type Client } from '@grpc/grpc-js'
import { SECOND } from '../base/clock.js'

/** Between two looks. A channel that is ready at neither is opened again. */
const LOOK_EVERY_MS = 5 * SECOND
/** Channels with equal options share a connection; the value tells the attempts apart. */
const ATTEMPT = 'causeway.attempt'

export interface RenewedClient<Service> {
  /** The client of the present channel. */
  current(): Service
  close(): void
}

/** @param open opens a client with these options */
export function createRenewedClient<Service extends Client>(
  open: (options: ChannelOptions) => Service,
  lookEveryMs = LOOK_EVERY_MS,
): RenewedClient<Service> {
  let attempt = 0
  let client = open({ [ATTEMPT]: attempt })
  let wasReady = true

  const look = (): void => {
    const isReady = client.getChannel().getConnectivityState(true) === connectivityState.READY
    const isStuck = !isReady && !wasReady
    wasReady = isReady || isStuck
    if (!isStuck) return
    const former = client
    attempt += 1
    client = open({ [ATTEMPT]: attempt })
    former.close()
  }
  const timer = setInterval(look, lookEveryMs)
  timer.unref()
  return {
    current: () => client,
    close: () => {
      clearInterval(timer)
      client.close()
    },
  }
}
