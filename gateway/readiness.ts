/** Whether a gateway serves: it needs the processor's stream and a fresh directory, not the bus. */
export interface GatewayState {
  readonly listening: boolean
  readonly streamOpen: boolean
  readonly directoryFresh: boolean
}

export const readinessOf = (state: GatewayState): GatewayState & { readonly ready: boolean } => ({
  ready: state.listening && state.streamOpen && state.directoryFresh,
  ...state,
})
