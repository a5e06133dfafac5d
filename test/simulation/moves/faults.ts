/**
 * Faults injected into moves; the simulation must find each of them.
 *
 * A fault has the first seed to try; code changes may move it to a later seed.
 */
export interface MoveFault {
  readonly name: string
  readonly firstSeed: number
  /** The expected error of the simulation. */
  readonly finding: RegExp
  /** Without other faults than moves. */
  readonly isCalm?: true
  /** Replaces a text in the statements that contain the first one. */
  readonly edit?: readonly [of: string, text: string, replacement: string]
  /** The shard is released before the drain has ended. */
  readonly releasesFirst?: true
  /** `gone` is not announced. */
  readonly keepsAnnouncing?: true
  /** A gateway sends calls in flight again, to the next owner. */
  readonly repeats?: true
  /** A release begins the next epoch, whatever others have seen. */
  readonly raisesByOne?: true
  /** The named processor does not wait for the release. */
  readonly takesEarly?: true
}

const LEASE = /no take-over of .* while its owner may answer reads/
const FIRST = 20_261_122

export const MOVE_FAULTS: readonly MoveFault[] = [
  {
    name: 'a release before the drain has ended',
    firstSeed: FIRST + 254,
    isCalm: true,
    releasesFirst: true,
    finding: /a move without other faults fails no call/,
  },
  {
    name: 'withdrawn partners are not announced',
    firstSeed: FIRST + 1,
    isCalm: true,
    keepsAnnouncing: true,
    finding: /a move without other faults fails no call/,
  },
  {
    name: 'a gateway repeats calls in flight',
    firstSeed: FIRST,
    repeats: true,
    finding: /a call that arrived is never sent again/,
  },
  {
    name: 'a take-over without the seen epoch and beat',
    firstSeed: FIRST,
    edit: ['SET epoch', 'WHERE epoch = ? AND beat = ?', 'WHERE ? IS NOT NULL AND ? IS NOT NULL'],
    finding: LEASE,
  },
  {
    name: 'the named processor does not wait for the release',
    firstSeed: FIRST + 2,
    takesEarly: true,
    finding: LEASE,
  },
  {
    name: 'a release begins the next epoch of the restored books',
    firstSeed: FIRST,
    raisesByOne: true,
    finding: /has the number of a lost one|refuses released books/,
  },
]
