/**
 * List cursors: the position after a page, authenticated as `position.mac`.
 *
 * Does not own: the key's origin (auth/master_key), the meaning of a position (queries).
 *
 * - A cursor is valid only for the list it was made for: same operation, tenant and filters
 *   (`list`).
 * - Any other text is rejected in the same way: altered, forged or in a different base64 spelling.
 */
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { deriveKey, type MasterKeys } from '../../auth/master_key.js'

export interface Cursors {
  make(list: string, position: string): string
  /** @returns the position; undefined when the cursor is not valid for this list */
  open(list: string, cursor: string): string | undefined
}

const CURSOR_MAX = 512
/** 16 bytes of the mac are 22 characters. */
const CURSOR_SHAPE = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/
const MAC_BYTES = 16

/** The first key signs cursors; every key verifies them. */
export function createCursors(masters: MasterKeys): Cursors {
  const keys = masters.map((master) => createSecretKey(deriveKey(master, 'cursor')))
  return {
    make: (list, position) => {
      const text = Buffer.from(position).toString('base64url')
      return `${text}.${mac(keys[0]!, list, text).toString('base64url')}`
    },
    open: (list, cursor) => {
      if (cursor.length > CURSOR_MAX) return undefined
      const [, text = '', given = ''] = CURSOR_SHAPE.exec(cursor) ?? []
      const bytes = Buffer.from(given, 'base64url')
      if (bytes.length !== MAC_BYTES || bytes.toString('base64url') !== given) return undefined
      const isAuthentic = keys.some((key) => timingSafeEqual(mac(key, list, text), bytes))
      return isAuthentic ? Buffer.from(text, 'base64url').toString() : undefined
    },
  }
}

const mac = (key: KeyObject, list: string, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([list, text]))
    .digest()
    .subarray(0, MAC_BYTES)
