/** Asserts an invariant. A failed assertion is a bug: it throws before anything is committed. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${what}`)
}

/** The end of an exhaustive switch: the compiler refuses it while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`broken invariant: unreachable case ${JSON.stringify(value)}`)
}
