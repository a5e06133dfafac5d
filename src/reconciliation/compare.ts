/**
 * One instruction held against the statement: what is alike, and what is not.
 *
 * - A line of the statement and a booking are alike when movement, currency and amount are; each
 *   is used once. When they were moved or booked does not matter.
 * - What is left over is paired where it can be meant: the same movement first. A pair differs in
 *   something that is named; what finds no partner is missing on the other side.
 * - Lines and bookings outside the period only serve as partners. Nothing is reported of them
 *   alone.
 * - An undone booking is no claim that money moved: without a partner it is shown, as `undone`,
 *   and is nobody's fault.
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
  /** The rail says so, and we have not booked it. */
  | { readonly status: 'missing_here'; readonly stated: StatementLine }
  /** We have booked it, and the rail does not say so. */
  | { readonly status: 'missing_there'; readonly booked: BookedMovement }
  | { readonly status: 'undone'; readonly booked: BookedMovement }
export type Status = Finding['status']

/** All that both sides say of one instruction. */
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
    const alone: StatementLine[] = []
    for (const line of stated) {
      const partner = first(booked, (booking) => fits(line, booking))
      if (partner === undefined) alone.push(line)
      else {
        booked.delete(partner)
        if (isDue(line) || isDue(partner)) findings.push(pairOf(line, partner))
      }
    }
    stated = alone
  }
  const isMeant = (line: StatementLine, booking: BookedMovement): boolean =>
    line.movement === booking.movement && (isDue(line) || isDue(booking))

  pairUp((line, booking) => differencesOf(line, booking).length === 0)
  pairUp((line, booking) => !booking.undone && isMeant(line, booking))
  pairUp((line, booking) => !booking.undone && isDue(line) && isDue(booking))
  return [...findings, ...missing(stated.filter(isDue), [...booked].filter(isDue))]
}

/** Those of the period find their partners before those that only serve as such. */
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
