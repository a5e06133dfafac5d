/**
 * One input of the QR fuzzer: a collected code, parsed, corrupted and assembled again.
 *
 * Does not own: reading and checking it (qr_attack).
 *
 * Most inputs get correct lengths and a correct checksum, to pass these checks; the others are
 * corrupted afterwards.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../src/base/project_root.js'
import { CORRIDOR_NAMES, type Corridor } from '../../src/qr/corridor.js'
import { field, sealed } from '../qr/payloads.js'
import type { SeededRandom } from './seeded_random.js'

export interface QrInput {
  readonly corridor: Corridor
  readonly payload: string
}

interface Vector {
  readonly corridor: Corridor
  readonly payload: string
}

const { vectors: VECTORS } = JSON.parse(
  readFileSync(join(projectRoot(), 'test/qr/vectors.json'), 'utf8'),
) as { vectors: readonly Vector[] }

/** An object of a code: its value is text, or objects again. */
interface Node {
  id: string
  value: string | Node[]
}

export function qrInput(random: SeededRandom): QrInput {
  const vector = random.pick(VECTORS)
  const corridor = random.once(8) ? random.pick(CORRIDOR_NAMES) : vector.corridor
  if (random.once(6)) return { corridor, payload: spoilt(vector.payload, random) }
  const nodes = random.once(10) ? randomNodes(random, 3) : nodesOf(vector.payload)
  const root = nodes.filter(({ id }) => id !== '63')
  for (let times = random.int(4); times >= 0; times--) change(root, random)
  const whole = sealed(written(root))
  return { corridor, payload: random.once(8) ? spoilt(whole, random) : whole }
}

/** A parser independent of src/qr: it stops at the first malformed object. */
function nodesOf(text: string, depth = 0): Node[] {
  const nodes: Node[] = []
  const characters = Array.from(text)
  for (let at = 0; at + 4 <= characters.length;) {
    const length = Number(characters.slice(at + 2, at + 4).join(''))
    if (!Number.isInteger(length)) return nodes
    const id = characters.slice(at, at + 2).join('')
    const value = characters.slice(at + 4, at + 4 + length).join('')
    const inner = isTemplate(id, depth) ? nodesOf(value, depth + 1) : []
    nodes.push({ id, value: written(inner) === value && value !== '' ? inner : value })
    at += 4 + length
  }
  return nodes
}

const isTemplate = (id: string, depth: number): boolean =>
  depth === 0 ? (id >= '26' && id <= '51') || id === '62' || id === '64' : id === '01' && depth < 3

const written = (nodes: readonly Node[]): string =>
  nodes
    .map(({ id, value }) => field(id, typeof value === 'string' ? value : written(value)))
    .join('')

const IDS = ['00', '01', '02', '03', '04', '08', '26', '29', '30', '38', '51', '52', '53', '54']
const MORE_IDS = ['55', '56', '57', '58', '59', '60', '62', '63', '64', '80', '99', '9x', '  ']
const VALUES = [
  ...[
    '01',
    '11',
    '12',
    '764',
    '704',
    '840',
    'TH',
    'VN',
    'th',
    '0',
    '00',
    '-1',
    '1.',
    '.5',
    '1.234',
  ],
  ...['100.00', '1e3', '9999999999999', '99999999999999', '02', '03', 'A000000677010111'],
  ...[
    'A000000677010112',
    'A000000727',
    'QRIBFTTA',
    'QRIBFTTC',
    'QRPUSH',
    '0066812345678',
    '970416',
  ],
  ...['123456789012345', '1234', '5'.repeat(99), 'x'.repeat(99), "';--", '${a}', '%s'],
  ...['กรุงเทพ', 'é', 'e\u0301', '😀'],
]
/** Characters that no code may contain, or that other readers treat as digits. */
const HOSTILE = [' ', '\u202e', '\ufeff', '\0', '\u2028', '\ud800', '١٢٣', '０１', '\r\n']

const aValue = (random: SeededRandom): string => random.pick(random.once(8) ? HOSTILE : VALUES)

function change(nodes: Node[], random: SeededRandom): void {
  // The first object identifies the format, so it is rarely changed.
  const at = Math.max(random.int(nodes.length + 1), random.once(8) ? 0 : 1)
  const node = nodes[at]
  if (node === undefined) return void nodes.push(randomNode(random, 1))
  if (typeof node.value !== 'string' && node.value.length > 0 && !random.once(3)) {
    return change(node.value, random)
  }
  random.pick<() => unknown>([
    () => nodes.splice(at, 1),
    () => nodes.splice(random.int(nodes.length), 0, structuredClone(node)),
    () => nodes.push(...nodes.splice(at).reverse()),
    () => (node.id = random.pick([...IDS, ...MORE_IDS])),
    () => (node.value = aValue(random)),
    () => (node.value = spoilt(typeof node.value === 'string' ? node.value : '', random)),
    () => (node.value = digits(random, 1 + random.int(45))),
    () => nodes.splice(at, 0, randomNode(random, 2)),
  ])()
}

const digits = (random: SeededRandom, length: number): string =>
  Array.from({ length }, () => random.int(10)).join('')

function randomNode(random: SeededRandom, depth: number): Node {
  const id = random.once(3) ? digits(random, 2) : random.pick([...IDS, ...MORE_IDS])
  return {
    id,
    value: depth > 0 && random.once(2) ? randomNodes(random, depth - 1) : aValue(random),
  }
}

const randomNodes = (random: SeededRandom, depth: number): Node[] =>
  Array.from({ length: 1 + random.int(6) }, () => randomNode(random, depth))

/** Removes, inserts or repeats characters. */
function spoilt(text: string, random: SeededRandom): string {
  let spoiling = text
  for (let times = random.int(3); times >= 0; times--) {
    const from = random.int(spoiling.length + 1)
    const to = random.once(2) ? from : from + random.int(8)
    const piece = random.once(3) ? spoiling.slice(from, to).repeat(2) : aValue(random)
    spoiling = spoiling.slice(0, from) + (random.once(4) ? '' : piece) + spoiling.slice(to)
  }
  return spoiling
}
