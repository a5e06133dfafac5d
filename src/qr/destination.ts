/**
 * Finds the template of a QR code that names the payee.
 *
 * Owns: the choice among templates 26 to 51. Does not own: reading the chosen one (its scheme).
 *
 * - Only templates of the corridor's scheme are read. Others stay opaque and may hold anything.
 * - Two destinations of one scheme are rejected, not ranked.
 */
import { CORRIDORS, type Corridor, type QrScheme } from './corridor.js'
import { promptpay } from './promptpay.js'
import { rejected, type Step } from './reasons.js'
import type { Destination, Scheme, Template } from './scheme.js'
import { peek, type Objects } from './tlv.js'
import { vietqr } from './vietqr.js'

export const SCHEMES: Readonly<Record<QrScheme, Scheme>> = { promptpay, vietqr }

export function findDestination(root: Objects, corridor: Corridor): Step<Destination> {
  const scheme = SCHEMES[CORRIDORS[corridor].scheme]
  const templates = templatesOf(root)
  const [template, second] = templates.filter(
    ({ tag, guid }) => scheme.tags.has(tag) && scheme.guids.has(guid),
  )
  if (second !== undefined) return rejected('destination_ambiguous')
  if (template !== undefined) return scheme.destinationOf(template)

  const names = ({ guids }: Scheme): boolean => templates.some(({ guid }) => guids.has(guid))
  if (names(scheme)) return rejected('scheme_unsupported')
  if (Object.values(SCHEMES).some(names)) return rejected('scheme_mismatch')
  return rejected(namesAnyAccount(root) ? 'scheme_unsupported' : 'scheme_missing')
}

function templatesOf(root: Objects): Template[] {
  const templates: Template[] = []
  for (const tag of root.keys()) {
    if (tag < '26' || tag > '51') continue
    const text = root.get(tag) ?? ''
    templates.push({ tag, guid: peek(text, '00') ?? '', text })
  }
  return templates
}

/** 02 to 25 belong to card schemes, 26 to 51 to other schemes. */
function namesAnyAccount(root: Objects): boolean {
  for (const tag of root.keys()) if (tag >= '02' && tag <= '51') return true
  return false
}
