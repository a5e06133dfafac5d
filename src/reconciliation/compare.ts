/**
 * Compares the statement lines and the bookings of one instruction.
 *
 * - A line matches a booking if movement, currency and amount are equal; each is used once. Times
 *   are not compared.
 * - Unmatched lines and bookings are then paired, the same movement first, and a pair names its
 *   differences. What has no partner is missing on the other side.
 * - Lines and bookings outside the period serve only as partners and are not reported alone.
 * - An undone booking does not claim that money moved: without a partner it is reported as
 *   `undone`, not as an error.
 */
import { isIn, type BookedMovement, type Period, type StatementLine } from './movement.js'

const DIFFERENCES = ['movement', 'currency', 'amount'] as const
export type Difference = (typeof DIFFERENCES)[number]

export type Finding =
  | { readonly status: 'matched'; readonly stated: StatementLine; readonly booked: BookedMovement }
  | {
      readonly status: 'different'
      readonly stated: StatementLine
      readonly booked: BookedMovement
      readonly differs: readonly Difference[]
    }
  /** On the statement and not booked. */
  | { readonly status: 'missing_here'; readonly stated: StatementLine }
  /** Booked and not on the statement. */
  | { readonly status: 'missing_there'; readonly booked: BookedMovement }
  | { readonly status: 'undone'; readonly booked: BookedMovement }
export type Status = Finding['status']

/** The lines and bookings of one instruction. */
export interface Sides {
  readonly stated: readonly StatementLine[]
  readonly booked: readonly BookedMovement[]
}

export function compare(sides: Sides, period: Period): readonly Finding[] {
  const isDue = ({ at }: StatementLine | BookedMovement): boolean => isIn(period, at)
  const findings: Finding[] = []
  let stated = dueFirst(sides.stated, isDue)
  const booked = new Set(dueFirst(sides.booked, isDue))

  const pairUp = (fits: (line: StatementLine, booking: BookedMovement) => boolean): void => {
    const unpaired: StatementLine[] = []
    for (const line of stated) {
      const partner = first(booked, (booking) => fits(line, booking))
      if (partner === undefined) unpaired.push(line)
      else {
        booked.delete(partner)
        if (isDue(line) || isDue(partner)) findings.push(pairOf(line, partner))
      }
    }
    stated = unpaired
  }
  const isSameMovement = (line: StatementLine, booking: BookedMovement): boolean =>
    line.movement === booking.movement && (isDue(line) || isDue(booking))

  pairUp((line, booking) => differencesOf(line, booking).length === 0)
  pairUp((line, booking) => !booking.undone && isSameMovement(line, booking))
  pairUp((line, booking) => !booking.undone && isDue(line) && isDue(booking))
  return [...findings, ...missing(stated.filter(isDue), [...booked].filter(isDue))]
}

/** Items of the period first: they find partners before items that only serve as partners. */
function dueFirst<Moved>(moved: readonly Moved[], isDue: (one: Moved) => boolean): Moved[] {
  return [...moved.filter(isDue), ...moved.filter((one) => !isDue(one))]
}

function first<Item>(items: Iterable<Item>, fits: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (fits(item)) return item
  return undefined
}

function pairOf(stated: StatementLine, booked: BookedMovement): Finding {
  const differs = differencesOf(stated, booked)
  if (differs.length === 0) return { status: 'matched', stated, booked }
  return { status: 'different', stated, booked, differs }
}

const differencesOf = (one: StatementLine, other: BookedMovement): readonly Difference[] =>
  DIFFERENCES.filter((member) => one[member] !== other[member])

const missing = (
  stated: readonly StatementLine[],
  booked: readonly BookedMovement[],
): readonly Finding[] => [
  ...stated.map((line): Finding => ({ status: 'missing_here', stated: line })),
  ...booked.map((booking): Finding => ({
    status: booking.undone ? 'undone' : 'missing_there',
    booked: booking,
  })),
]
