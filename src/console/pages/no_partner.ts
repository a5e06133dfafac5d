/** The page of a name that no partner has, as far as the processors have answered. */
import { html } from '../html/html.js'
import { card, empty, incomplete } from '../html/parts.js'
import { missingIn, type Content } from '../session/console_page.js'

export const noPartnerText = (id: string, list: object): string =>
  missingIn(list).length === 0
    ? `${id} is no partner of ours.`
    : `${id} is in none of the books that answered.`

/** @param list the partners */
export function noPartner(id: string, list: object): Content {
  const missing = missingIn(list)
  const text = noPartnerText(id, list)
  const body = html`${incomplete(missing)} ${card('Nothing has this name', empty(text))}`
  return { title: 'Partner not found', status: 404, body }
}
