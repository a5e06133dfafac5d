/** Terminal output of the demo: headings, lines and check marks. */
import type { Paint } from '../cli/terminal.js'

export interface DemoOutput {
  chapter(title: string): void
  print(line: string): void
  /** An assertion that passed. */
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
