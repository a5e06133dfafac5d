/**
 * Fuzzes the reader of ISO 20022 messages with damaged messages.
 *
 * Does not own: the command line (iso20022).
 *
 * For every input:
 * - The result is a message or a MessageFault, never another exception.
 * - What is read can be written, and is read again as the same.
 * - The text of a fault has no account and no name.
 * - It is read in bounded time.
 */
import { isDeepStrictEqual } from 'node:util'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../src/rails/iso20022/codec.js'
import { MessageFault } from '../../src/rails/iso20022/xml.js'
import { SAMPLES } from '../rails/iso20022/samples.js'
import { createSeededRandom, type SeededRandom } from './seeded_random.js'

export interface MessageAttack {
  readonly seed: number
  /** Called before each input; false ends the run. */
  readonly goesOn: (index: number) => boolean
  readonly read?: typeof readMessage
}

export interface MessageAttackReport {
  readonly inputs: number
  readonly read: number
  /** Violations, each with its seed and number. */
  readonly faults: readonly string[]
}

/** CPU time: the process may wait for a core. */
const MICROSECONDS_MAX = 2_000_000
const DAMAGES_MAX = 4
const SECRETS = ['0071001234567', 'Lan']
const VALID = Object.values(SAMPLES).map((message) => writeMessage(message).toString())
const PIECES = [
  ...['<', '>', '/', '&', '"', '=', ' ', '\n', '<a>', '</a>', '<a/>', '&amp;', '&#x41;', '&a;'],
  ...['<!DOCTYPE a>', '<!-- -->', '<![CDATA[', '<?a?>', ' xmlns="a"', ' Ccy="THB"', '\u0000', '😀'],
  ...['__proto__', '<__proto__>', 'constructor', '-1', '1e9', '9'.repeat(40), 'a'.repeat(2_000)],
  ...['<a>'.repeat(40), '<a b="c"/>'.repeat(30)],
]

function damaged(random: SeededRandom): string {
  let text = random.pick(VALID)
  for (let damages = random.int(DAMAGES_MAX + 1); damages > 0; damages--) {
    const at = random.int(text.length)
    const end = at + random.int(30)
    const piece = random.pick([...PIECES, text.slice(at, end), random.pick(VALID).slice(at, end)])
    const skipped = random.pick([0, 0, 1, 12, end - at])
    text = text.slice(0, at) + piece + text.slice(at + skipped)
  }
  return text
}

export function attackMessages(options: MessageAttack): MessageAttackReport {
  const { seed, goesOn, read = readMessage } = options
  const faults: string[] = []
  let [inputs, messages] = [0, 0]
  for (; goesOn(inputs); inputs++) {
    const text = damaged(createSeededRandom(seed, inputs))
    const before = process.cpuUsage()
    const fault = faultOf(text, read)
    if (fault === undefined) messages++
    else if (fault !== '') faults.push(`seed ${seed}, input ${inputs}: ${fault}`)
    const { user, system } = process.cpuUsage(before)
    const took = user + system
    if (took > MICROSECONDS_MAX) faults.push(`seed ${seed}, input ${inputs}: took ${took} µs`)
  }
  return { inputs, read: messages, faults }
}

/** Undefined means that it is a message, empty that it is refused as it should be. */
function faultOf(text: string, read: typeof readMessage): string | undefined {
  const bytes = Buffer.from(text)
  try {
    const message = read(bytes, MESSAGE_BOUNDS)
    const again = read(writeMessage(message), MESSAGE_BOUNDS)
    return isDeepStrictEqual(again, message) ? undefined : 'a second reading differs'
  } catch (error) {
    if (!(error instanceof MessageFault)) return `it threw ${String(error)}`
    const { message } = error
    return SECRETS.some((secret) => message.includes(secret)) ? `it tells ${message}` : ''
  }
}
