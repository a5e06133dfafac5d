/** The model of a tenant's balances, in minor units by currency and account. */
export type Account =
  'prefund' | 'reserved' | 'fees' | 'rail_clearing' | 'funding' | 'fx' | 'suspense'

export interface Ledger {
  of(currency: string, account: Account): bigint
  /** A negative amount moves it back. */
  move(currency: string, from: Account, to: Account, amount: bigint): void
  /** By `currency account`; without those that are zero. */
  balances(): ReadonlyMap<string, bigint>
}

export function createLedger(start: ReadonlyMap<string, bigint>): Ledger {
  const balances = new Map(start)
  const of = (currency: string, account: Account): bigint =>
    balances.get(`${currency} ${account}`) ?? 0n
  const add = (currency: string, account: Account, amount: bigint): void =>
    void balances.set(`${currency} ${account}`, of(currency, account) + amount)
  return {
    of,
    move: (currency, from, to, amount) => {
      add(currency, from, -amount)
      add(currency, to, amount)
    },
    balances: () => new Map([...balances].filter(([, balance]) => balance !== 0n)),
  }
}
