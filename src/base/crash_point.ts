/**
 * Names the points between two steps of which a crash must lose nothing.
 *
 * - No program of the service sets a handler, so a point is one comparison. Only tests load one
 *   into the process that they end there (test/crash/crash_hook).
 * - A test lists the points from the code, so a new one needs a scenario.
 */
let reached: ((name: string) => void) | undefined

/** @param name a literal: `part.what_has_happened` */
export function crashPoint(name: string): void {
  reached?.(name)
}

/** For tests. */
export function onCrashPoint(handler: (name: string) => void): void {
  reached = handler
}
