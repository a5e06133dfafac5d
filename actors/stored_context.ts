/**
 * The contexts of intents and payouts as the books store them.
 *
 * - What is stored is a contract with earlier versions: three members keep names there that are
 *   older than those in memory. All other members have one name.
 * - Only here is a stored context given or taken: a cast would read absent members.
 */
type Names = Readonly<Record<string, string>>

const STORED: Names = { submittedAt: 'handedOverAt', inquiries: 'asked', dueAt: 'wakeAt' }
const IN_MEMORY: Names = Object.fromEntries(
  Object.entries(STORED).map(([inMemory, stored]) => [stored, inMemory]),
)

/** The member of an intent that counts inquiries of its own. */
const RECALL = 'recall'

/** In place of a spread of the rest, which costs ten times as much. */
function renamed(from: object, names: Names): Record<string, unknown> {
  const to: Record<string, unknown> = {}
  for (const name in from) to[names[name] ?? name] = (from as Record<string, unknown>)[name]
  const recall = to[RECALL]
  if (typeof recall === 'object' && recall !== null) to[RECALL] = renamed(recall, names)
  return to
}

export const storedContext = (context: object): object => renamed(context, STORED)

/** @param stored parsed JSON, which may be corrupt. Null when it is no object. */
export const contextIn = <Context extends object>(stored: unknown): Context | null =>
  typeof stored === 'object' && stored !== null ? (renamed(stored, IN_MEMORY) as Context) : null
