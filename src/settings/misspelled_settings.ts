/**
 * Variables that are probably misspelled settings. The names have no prefix, so variables of other
 * programs cannot be told from ours: only a name that differs little from a setting is meant.
 *
 * - Case, `_` and `-` do not count as a difference. One edit is little, and two in a long name.
 * - Not those that Kubernetes and `docker --link` set for each service, whatever its name.
 */
import { RENAMED, SETTINGS, type SettingName } from './settings.js'

export interface MisspelledSetting {
  readonly given: string
  readonly meant: SettingName
}

/** Letters of a long name. */
const LONG = 12
const SERVICE_NAME = /_SERVICE_(?:HOST|PORT(?:_.+)?)$|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_.+)?$/
const SERVICE_URL = /^(?:tcp|udp|sctp):\/\//

export const misspelledSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): readonly MisspelledSetting[] =>
  Object.entries(environment)
    .filter(([name, value = '']) => !SERVICE_NAME.test(name) && !SERVICE_URL.test(value))
    .flatMap(([given]) => {
      const meant = settingLike(given)
      return meant === undefined ? [] : [{ given, meant }]
    })

/** A program reads its settings several times, from the same variables. */
const compared = new Map<string, SettingName | undefined>()

/** The setting that was probably meant. Undefined for a setting, and for a name unlike any. */
export function settingLike(given: string): SettingName | undefined {
  if (!compared.has(given)) compared.set(given, nearestTo(given))
  return compared.get(given)
}

function nearestTo(given: string): SettingName | undefined {
  if (Object.hasOwn(SETTINGS, given) || Object.hasOwn(RENAMED, given)) return undefined
  const text = lettersOf(given)
  const set = setOf(text)
  const near = NAMES.flatMap(({ name, letters, set: meant }) => {
    const most = letters.length < LONG ? 1 : 2
    if (Math.abs(letters.length - text.length) > most) return []
    if (bitsIn(set ^ meant) > most * SET_CHANGES_OF_AN_EDIT) return []
    const edits = editsBetween(text, letters)
    return edits <= most ? [{ name, edits }] : []
  })
  return near.sort((one, other) => one.edits - other.edits)[0]?.name
}

const lettersOf = (name: string): string => name.toUpperCase().replaceAll(/[_-]/g, '')

/** Which letters a text has, as bits. Another character shares the bit of a letter. */
function setOf(text: string): number {
  let set = 0
  for (let i = 0; i < text.length; i++) set |= 1 << (text.charCodeAt(i) & 31)
  return set
}

function bitsIn(set: number): number {
  let count = 0
  for (let left = set; left !== 0; left &= left - 1) count += 1
  return count
}

/** Every program compares its variables at its start: most names are told apart by their sets. */
const NAMES = (Object.keys(SETTINGS) as SettingName[]).map((name) => {
  const letters = lettersOf(name)
  return { name, letters, set: setOf(letters) }
})

/** A replaced letter is one less and another one more. */
const SET_CHANGES_OF_AN_EDIT = 2

/** Characters to insert, delete, replace or swap with the next one (optimal string alignment). */
function editsBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= to.length; j++) {
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + Number(from[i - 1] !== to[j - 1]),
          isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      )
    }
  }
  return at(from.length, to.length)
}
