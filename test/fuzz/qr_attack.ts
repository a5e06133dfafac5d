/**
 * Fuzzes the QR reader with corrupted codes.
 *
 * Owns: reading and checking. Does not own: the inputs (qr_input), the command line (qr).
 *
 * For every input:
 * - The result is a reading or a reason of the table, never an exception.
 * - The work is linear in the length of the code. It is counted, not timed.
 * - The same input gives the same result.
 * - Payee and amount are texts of the code; only the end of an account, less than half, is shown.
 */
import { ERRORS } from '../../src/base/errors.js'
import { bindAmount, readQr, type QrOutcome, type QrReading } from '../../src/qr/read.js'
import { wireCodeOf } from '../../src/qr/reasons.js'
import { charactersTouched } from '../qr/effort.js'
import type { AttackReport } from './attack.js'
import { createSeededRandom } from './seeded_random.js'
import { qrInput, type QrInput } from './qr_input.js'

export interface QrAttackOptions {
  readonly seed: number
  /** Called before each input; false ends the run. */
  readonly goesOn: (index: number) => boolean
  /** Runs only the input of this number. */
  readonly only?: number
  readonly read?: typeof readQr
}

const FAULTS_MAX = 20
/** Reads of each character, nested templates included, and the fixed cost of a code. */
const TOUCHES_EACH = 12
const TOUCHES_ALWAYS = 64

export function attackQr(options: QrAttackOptions): AttackReport {
  const { seed, goesOn, only, read = readQr } = options
  /** By result: `read` or the reason. */
  const statuses: Record<string, number> = {}
  const faults: string[] = []
  let index = only ?? 0
  do {
    const input = qrInput(createSeededRandom(seed, index))
    const { verdict, fault } = play(input, read)
    statuses[verdict] = (statuses[verdict] ?? 0) + 1
    if (fault !== undefined && faults.length < FAULTS_MAX) {
      faults.push(`seed ${seed}, input ${index}: ${fault}: ${JSON.stringify(input)}`)
    }
    index += 1
  } while (only === undefined && goesOn(index))
  return { inputs: index - (only ?? 0), statuses, faults }
}

interface Played {
  readonly verdict: string
  readonly fault?: string | undefined
}

function play({ payload, corridor }: QrInput, read: typeof readQr): Played {
  let outcome: QrOutcome | undefined
  let touched = 0
  try {
    touched = charactersTouched(() => (outcome = read(payload, corridor)))
  } catch (error) {
    return { verdict: 'thrown', fault: `it threw ${String(error)}` }
  }
  if (outcome === undefined) return { verdict: 'nothing', fault: 'no result' }
  const verdict = outcome.ok ? 'read' : outcome.reason
  if (touched > TOUCHES_EACH * payload.length + TOUCHES_ALWAYS) {
    return { verdict, fault: `${touched} touches for ${payload.length} characters` }
  }
  if (textOf(read(payload, corridor)) !== textOf(outcome)) {
    return { verdict, fault: 'a second reading differs' }
  }
  const fault = outcome.ok ? faultOf(outcome.reading, payload) : faultOfRefusal(outcome)
  return { verdict, fault }
}

const textOf = (value: object): string =>
  JSON.stringify(value, (_member, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))

function faultOfRefusal(refusal: QrOutcome & { ok: false }): string | undefined {
  if (Object.keys(refusal).join() !== 'ok,reason')
    return 'a rejection has more members than its reason'
  return Object.hasOwn(ERRORS, wireCodeOf(refusal.reason)) ? undefined : 'an unknown reason'
}

function faultOf(reading: QrReading, payload: string): string | undefined {
  const { destination, destinationMasked, embeddedAmountMinor: minor, merchant } = reading
  const { account, bankCode, reference1, reference2 } = destination
  const texts = [account, bankCode, reference1, reference2, merchant.name, merchant.city]
  if (texts.some((text) => !payload.includes(text)))
    return 'a text of the reading is not in the code'
  const shown = destinationMasked.slice(4)
  const hidesEnough = shown.length <= 4 && 2 * shown.length <= account.length
  if (!destinationMasked.startsWith('****') || !account.endsWith(shown) || !hidesEnough) {
    return `masked as ${destinationMasked}`
  }
  if (minor !== null && (minor <= 0n || minor >= 10n ** 15n)) return `an amount of ${minor}`
  const bound = bindAmount(reading, 7n)
  const isBound = minor === null || minor === 7n ? bound.ok && bound.minor === 7n : !bound.ok
  return isBound ? undefined : 'an amount of the caller replaces that of the code'
}
