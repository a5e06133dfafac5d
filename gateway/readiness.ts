/**
 * Whether a gateway serves: it needs a processor's stream and a fresh directory, not the bus. Of
 * several processors one is enough: the partners of the others get 503 from any gateway.
 */
import type { ProcessorState } from './upstream/processors.js'

export interface GatewayState {
  readonly listening: boolean
  readonly streamOpen: boolean
  readonly directoryFresh: boolean
  /** Only where there are several. */
  readonly processors?: readonly ProcessorState[]
}

export const readinessOf = (state: GatewayState): GatewayState & { readonly ready: boolean } => ({
  ready:
    state.listening &&
    state.streamOpen &&
    state.directoryFresh &&
    (state.processors?.some(({ up }) => up) ?? true),
  ...state,
})
