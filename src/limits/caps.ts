/**
 * What a partner's user may pay in a corridor, in minor units of its currency.
 *
 * Vietnam's limits are the law's and fixed. Thailand's, and the minimums, are our own choice and
 * settings.
 */
export interface Caps {
  readonly minimum: bigint
  readonly perTransaction: bigint
  readonly perDay: bigint
  readonly perMonth: bigint
}

export const VIETNAM_CAPS: Omit<Caps, 'minimum'> = {
  perTransaction: 5_000_000n,
  perDay: 10_000_000n,
  perMonth: 25_000_000n,
}
