/** A flag that holds a number; what is none ends the process with one sentence. */
export function numberFlag(name: string, text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  console.error(`--${name} takes a number, not ${text}`)
  process.exit(2)
}
