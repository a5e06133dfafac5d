/** The page of an id that the books do not have. A payment may have left them for an archive. */
import { card, empty, isPayment } from '../html/parts.js'
import type { Content, PageContext } from '../session/console_page.js'

export async function noPayment({ clients, id }: PageContext, title: string): Promise<Content> {
  const found = isPayment(id)
    ? await clients.operator.call('Find', { text: id }).catch(() => undefined)
    : undefined
  const archive = found?.data.find((each) => each.id === id)?.archive
  const body =
    archive === undefined
      ? card('Nothing has this id', empty(`${id} is in none of the books that answered.`))
      : card('In an archive', empty(`${id} has left the books for the archive ${archive}.`))
  return { title, status: 404, body }
}
