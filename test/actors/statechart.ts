/**
 * Statecharts of the machines as Mermaid text. Run as a program it writes them into
 * `actors/README.md`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toDirectedGraph } from 'xstate/graph'
import { intentMachine } from '../../actors/intent/machine.js'
import { payoutMachine } from '../../actors/payout/machine.js'
import { deliveryMachine } from '../../actors/webhook/delivery/machine.js'
import { projectRoot } from '../../src/base/project_root.js'

export const PAGE = join(projectRoot(), 'actors/README.md')
export const MACHINES = {
  intent: intentMachine,
  payout: payoutMachine,
  delivery: deliveryMachine,
}

interface Graph {
  readonly children: readonly {
    readonly id: string
    readonly stateNode: { readonly key: string; readonly type: string }
  }[]
}

/** The transitions of one event differ by their guards, in brackets. */
export function statechartOf(name: keyof typeof MACHINES): string {
  const machine = MACHINES[name]
  const graph = toDirectedGraph(machine) as unknown as Graph
  const lines = ['stateDiagram-v2', `  [*] --> ${machine.root.initial.target[0]?.key ?? ''}`]
  for (const { stateNode } of graph.children) {
    const node = machine.root.states[stateNode.key]
    for (const [event, transitions] of node?.transitions ?? []) {
      for (const { target, guard } of transitions) {
        const to = target?.[0]?.key ?? stateNode.key
        const label = typeof guard === 'string' ? `${event} [${guard}]` : event
        lines.push(`  ${stateNode.key} --> ${to}: ${label}`)
      }
    }
    if (stateNode.type === 'final') lines.push(`  ${stateNode.key} --> [*]`)
  }
  return lines.join('\n')
}

/** The page with the current charts. */
export function withStatecharts(page: string): string {
  let result = page
  for (const name of Object.keys(MACHINES) as (keyof typeof MACHINES)[]) {
    const block = new RegExp(`(<!-- statechart ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`)
    result = result.replace(block, `$1\n\`\`\`mermaid\n${statechartOf(name)}\n\`\`\`\n\n$2`)
  }
  return result
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(PAGE, withStatecharts(readFileSync(PAGE, 'utf8')))
}
