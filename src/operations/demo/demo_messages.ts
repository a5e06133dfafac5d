/**
 * The messages between the adapter and the switch for trials, as the demo shows them.
 *
 * - They are read from the switch's own file: what was on the wire, not what we meant to send.
 */
import { existsSync, readFileSync } from 'node:fs'

export interface WireMessage {
  readonly direction: 'received' | 'sent'
  readonly text: string
}

/** All messages in the file. No messages mean that the stack has no such switch. */
export function messagesIn(file: string): readonly WireMessage[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n\n')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [head = '', ...lines] = part.split('\n')
      return {
        direction: head.endsWith(' sent') ? 'sent' : 'received',
        text: lines.filter((line) => !line.startsWith('<?xml')).join('\n'),
      }
    })
}

const elementIn = (text: string, name: string): string =>
  new RegExp(`<${name}(?: [^>]*)?>([^<]*)</`).exec(text)?.[1] ?? ''

/** `→ pacs.008.001.09  pout_…  ACSC  VND 1250000` */
export function lineOf({ direction, text }: WireMessage): string {
  const id = elementIn(text, 'OrgnlInstrId') || elementIn(text, 'InstrId')
  const amount = elementIn(text, 'IntrBkSttlmAmt')
  const currency = /Ccy="([A-Z]{3})"/.exec(text)?.[1] ?? ''
  const name = elementIn(text, 'MsgDefIdr')
  const arrow = direction === 'received' ? '→' : '←'
  const status = elementIn(text, 'TxSts')
  return [arrow, name, id, status, amount === '' ? '' : `${currency} ${amount}`]
    .filter((part) => part !== '')
    .join('  ')
}
