/**
 * The checksum of EMVCo QR codes: CRC-16/CCITT-FALSE, computed over UTF-8 bytes.
 *
 * Owns: the arithmetic. Does not own: which part of a payload it covers (read).
 */

/** Polynomial 0x1021, start 0xffff, neither reflected nor inverted: '123456789' gives 0x29b1. */
export function crc16(text: string): number {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    // Eight shifts at once: this polynomial has few terms, so they collapse into three.
    let mixed = (crc >>> 8) ^ byte
    mixed ^= mixed >>> 4
    crc = ((crc << 8) ^ (mixed << 12) ^ (mixed << 5) ^ mixed) & 0xffff
  }
  return crc
}
