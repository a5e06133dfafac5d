/**
 * The voice of the demo.
 *
 * Owns: headings, lines and ticks. Does not own: what is told (demo_scenario).
 */
import type { Paint } from './terminal.js'

export interface DemoOutput {
  chapter(title: string): void
  /** Something that is so. */
  print(line: string): void
  /** Something that was checked and is right. */
  check(line: string): void
  end(line: string): void
}

export function createDemoOutput(paint: Paint, write: (line: string) => void): DemoOutput {
  let chapters = 0
  return {
    chapter: (title) => {
      chapters += 1
      write('')
      write(paint('strong', `${chapters}  ${title}`))
    },
    print: (line) => write(`   ${line}`),
    check: (line) => write(`   ${paint('good', '✓')} ${line}`),
    end: (line) => {
      write('')
      write(paint('good', line))
    },
  }
}
