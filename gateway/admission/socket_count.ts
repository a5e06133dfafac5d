/**
 * Counts open connections in the kernel's socket table, and reads the limit of open files (Linux,
 * proc(5): `/proc/net/tcp`, `/proc/self/limits`).
 *
 * The table includes every process that listens on the port.
 */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { sourceOf } from '../../src/base/network.js'
import type { OpenConnections } from './connection_limit.js'

/** ESTABLISHED and CLOSE_WAIT. */
const HELD_STATES: ReadonlySet<string> = new Set(['01', '08'])

/** Connections to this port. Rejects where the table does not exist. */
export async function openConnections(port: number): Promise<OpenConnections> {
  const counts = new Map<string, number>()
  for (const table of await Promise.all([readFile(TCP_4, 'latin1'), readTable6()])) {
    for (const line of table.split('\n')) {
      const [, localPort, remote = '', state = ''] = ROW.exec(line) ?? []
      if (Number.parseInt(localPort ?? '', 16) !== port || !HELD_STATES.has(state)) continue
      const source = sourceOf(addressOf(remote))
      counts.set(source, (counts.get(source) ?? 0) + 1)
    }
  }
  return counts
}

/** Descriptors that the process needs for itself: logs, streams, name resolution. */
const OWN_FILES_MAX = 256
const OPEN_FILES = /^Max open files +([0-9]+) /m

/**
 * Connections that this process can hold beside its own files; Infinity where the limit is unknown.
 */
export function connectionCapacity(): number {
  try {
    const [, text] = OPEN_FILES.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    const files = Number(text ?? Number.POSITIVE_INFINITY)
    return files - Math.min(OWN_FILES_MAX, files / 4)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const TCP_4 = '/proc/net/tcp'
const TCP_6 = '/proc/net/tcp6'

/** A kernel without IPv6 has no such file. */
const readTable6 = (): Promise<string> => readFile(TCP_6, 'latin1').catch(() => '')

/** `0: 0100007F:1F90 0200007F:C350 01 …`: number, local, remote, state. */
const ROW = /^ *[0-9]+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{8,32}):[0-9A-F]{4} ([0-9A-F]{2}) /

/** The kernel prints each 32-bit word in host byte order, here little-endian. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16))
  return groups.join(':')
}
