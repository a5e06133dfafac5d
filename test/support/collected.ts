/** The items of an async iterable as an array; `Array.fromAsync` needs a newer Node. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
