/**
 * Counts the characters that a computation passes to built-in functions: a measure of work that
 * does not depend on the machine.
 *
 * - The built-ins are restored when it returns or throws.
 */
type BuiltIn = (this: unknown, ...given: unknown[]) => unknown

interface Watched {
  readonly owner: object
  readonly name: string
  /** Characters processed by one call. */
  readonly cost: (self: unknown, given: readonly unknown[], result: unknown) => number
}

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || Buffer.isBuffer(value) || Array.isArray(value) ? value.length : 0

const WATCHED: readonly Watched[] = [
  { owner: String.prototype, name: 'charCodeAt', cost: () => 1 },
  { owner: String.prototype, name: 'charAt', cost: () => 1 },
  { owner: String.prototype, name: 'slice', cost: (_self, _given, result) => lengthOf(result) },
  { owner: String.prototype, name: 'padEnd', cost: (_self, _given, result) => lengthOf(result) },
  { owner: String.prototype, name: 'startsWith', cost: (_self, given) => lengthOf(given[0]) },
  { owner: RegExp.prototype, name: 'test', cost: (_self, given) => lengthOf(given[0]) },
  { owner: Buffer, name: 'from', cost: (_self, _given, result) => lengthOf(result) },
  { owner: Array, name: 'from', cost: (_self, _given, result) => lengthOf(result) },
  { owner: Map.prototype, name: 'set', cost: () => 1 },
  { owner: Map.prototype, name: 'has', cost: () => 1 },
  { owner: Map.prototype, name: 'get', cost: () => 1 },
]

export function charactersTouched(work: () => unknown): number {
  let count = 0
  const originals = WATCHED.map(({ owner, name }) => Reflect.get(owner, name) as BuiltIn)
  WATCHED.forEach(({ owner, name, cost }, index) => {
    const original = originals[index] as BuiltIn
    Reflect.set(owner, name, function (this: unknown, ...given: unknown[]) {
      const result = Reflect.apply(original, this, given)
      count += cost(this, given, result)
      return result
    })
  })
  try {
    work()
  } finally {
    WATCHED.forEach(({ owner, name }, index) => Reflect.set(owner, name, originals[index]))
  }
  return count
}
