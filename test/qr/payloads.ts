/**
 * QR payloads for the tests, assembled without src/qr: objects, and the checksum bit by bit as the
 * standard defines it.
 */
export type Field = readonly [id: string, value: string]

/** One object, with its length in code points. */
export const field = (id: string, value: string): string =>
  id + String(Array.from(value).length).padStart(2, '0') + value

export const fields = (...list: readonly Field[]): string =>
  list.map(([id, value]) => field(id, value)).join('')

/** Appends a correct checksum to any text. */
export const sealed = (text: string): string => {
  const covered = `${text}6304`
  return covered + slowCrc16(covered).toString(16).toUpperCase().padStart(4, '0')
}

export const payload = (...list: readonly Field[]): string => sealed(fields(...list))

export function slowCrc16(text: string): number {
  let register = 0xffff
  for (const byte of new TextEncoder().encode(text)) {
    for (let bit = 7; bit >= 0; bit--) {
      const feedback = (register >> 15) ^ ((byte >> bit) & 1)
      register = ((register << 1) & 0xffff) ^ (feedback === 1 ? 0x1021 : 0)
    }
  }
  return register
}

export const CREDIT_TRANSFER = 'A000000677010111'
export const BILL_PAYMENT = 'A000000677010112'
export const VIETQR = 'A000000727'

export const mobileTemplate = (proxy = '0066812345678'): Field => [
  '29',
  fields(['00', CREDIT_TRANSFER], ['01', proxy]),
]

export const billTemplate = (
  biller = '099400016550100',
  ...references: readonly Field[]
): Field => ['30', fields(['00', BILL_PAYMENT], ['01', biller], ...references)]

export const vietTemplate = (bank: string, account: string, service?: string): Field => [
  '38',
  fields(
    ['00', VIETQR],
    ['01', fields(['00', bank], ['01', account])],
    ...(service === undefined ? [] : [['02', service] as const]),
  ),
]

/** A small valid code. Given fields replace those of the same id or are added before the end. */
export const thai = (...changes: readonly Field[]): string =>
  payload(
    ...changed(
      [['00', '01'], ['01', '11'], mobileTemplate(), ['53', '764'], ['58', 'TH']],
      changes,
    ),
  )

export const vietnamese = (...changes: readonly Field[]): string =>
  payload(
    ...changed(
      [
        ['00', '01'],
        ['01', '11'],
        vietTemplate('970416', '257678859', 'QRIBFTTA'),
        ['53', '704'],
        ['58', 'VN'],
      ],
      changes,
    ),
  )

/** An empty value removes the field. */
function changed(list: readonly Field[], changes: readonly Field[]): Field[] {
  const merged = new Map([...list, ...changes])
  return [...merged].filter(([, value]) => value !== '')
}
