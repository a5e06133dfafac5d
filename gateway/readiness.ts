/**
 * Whether a gateway serves: it needs a processor's stream and a fresh directory, not the bus. Of
 * several processors one is enough: the partners of the others get 503 from any gateway. Shards
 * without a processor are named.
 */
import type { ProcessorState } from './upstream/processors.js'

export interface GatewayState {
  readonly listening: boolean
  readonly streamOpen: boolean
  readonly directoryFresh: boolean
  /** Only where there are several. */
  readonly processors?: readonly ProcessorState[]
  /** Likewise: shards whose partners get 503. */
  readonly shardsWithoutRoute?: readonly string[]
}

export const readinessOf = (state: GatewayState): GatewayState & { readonly ready: boolean } => ({
  ready:
    state.listening &&
    state.streamOpen &&
    state.directoryFresh &&
    (state.processors?.some(({ up }) => up) ?? true),
  ...state,
})

/** What keeps it from serving as it should, as sentences for operators. */
export const faultsOf = ({ streamOpen, directoryFresh, shardsWithoutRoute = [] }: GatewayState) => [
  ...(streamOpen ? [] : ['no link to a processor: requests get 503']),
  ...(directoryFresh ? [] : ['changes of keys do not arrive']),
  ...shardsWithoutRoute.map((shard) => `no processor for the shard ${shard}: its partners get 503`),
]
