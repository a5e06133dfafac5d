/**
 * Shares of a bounded resource, such as slots: each user may hold as much of it as it leaves free.
 *
 * Does not own: the resource, the queue for it (base/fair_queue).
 *
 * - One user alone gets half, and n greedy ones get one part of n + 1 each. However greedy they
 *   are, the next user finds something free.
 * - A user that holds nothing uses no memory.
 */
export interface FairShare<User> {
  /** By all users. */
  readonly held: number
  mayTake(user: User, count?: number): boolean
  /** Also more than the user may take, where the caller cannot refuse it. */
  take(user: User, count?: number): void
  release(user: User, count?: number): void
}

export function createFairShare<User>(max: number): FairShare<User> {
  const byUser = new Map<User, number>()
  let held = 0
  const heldBy = (user: User): number => byUser.get(user) ?? 0

  const add = (user: User, count: number): void => {
    const own = heldBy(user) + count
    if (own === 0) byUser.delete(user)
    else byUser.set(user, own)
    held += count
  }
  return {
    get held() {
      return held
    },
    mayTake: (user, count = 1) => heldBy(user) + count <= max - held - count,
    take: (user, count = 1) => add(user, count),
    release: (user, count = 1) => add(user, -count),
  }
}
