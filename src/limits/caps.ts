/**
 * What a partner's user may pay in a corridor, in minor units of its currency.
 *
 * Vietnam's limits are the law's and fixed. Thailand's, and the minimums: our own choice, which
 * settings may change.
 */
import type { Corridor } from '../qr/corridor.js'

export interface Caps {
  readonly minimum: bigint
  readonly perTransaction: bigint
  readonly perDay: bigint
  readonly perMonth: bigint
}

/** As they are unless a setting says otherwise. */
export const CAPS: Readonly<Record<Corridor, Caps>> = {
  th_promptpay: {
    minimum: 1_00n,
    perTransaction: 50_000_00n,
    perDay: 200_000_00n,
    perMonth: 1_000_000_00n,
  },
  vn_vietqr: {
    minimum: 1_000n,
    perTransaction: 5_000_000n,
    perDay: 10_000_000n,
    perMonth: 25_000_000n,
  },
}
