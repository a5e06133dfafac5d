/** What the processor tells about itself: `/readyz`, and what it reports to the supervisor. */
import type { ReadyInfo } from '../process/child.js'
import type { FreeSpace } from '../files/free_space.js'
import type { Readiness } from '../process/ops_http.js'
import { degradedBy } from '../process/state_report.js'
import type { Bus } from '../bus/nats.js'
import type { ConnectedScreening } from '../screening/client.js'
import type { Store } from '../store/store.js'
import type { OpenWorkMonitor } from './background/open_work_monitor.js'
import type { RailLinks } from './background/rail_links.js'
import type { Recovery } from './background/recovery.js'
import type { Memory } from './cache/memory.js'
import { routesNotCarried } from './changes/payment_rail.js'
import type { Member } from './cluster/member.js'
import type { Rules } from './cycle/rules.js'

export interface ReadinessSources {
  readonly books: Pick<Store, 'damage' | 'synchrony'>
  readonly member: Member | undefined
  readonly recovery: Pick<Recovery, 'state'>
  readonly memory: Memory
  readonly rules: Pick<Rules, 'rails'>
  readonly bus: Pick<Bus, 'status' | 'refusal'>
  readonly rail: Pick<RailLinks, 'faults'>
  readonly screening: Pick<ConnectedScreening, 'fault'> | undefined
  readonly disk: Pick<FreeSpace, 'isLow'>
  readonly openWork: Pick<OpenWorkMonitor, 'unnamedRails'>
  readonly isServing: () => boolean
  readonly gateways: () => number
}

export function readinessOf(sources: ReadinessSources): Readiness {
  const { recovery, memory, bus, rail, screening, disk, member } = sources
  const state = {
    ready: sources.isServing() && memory.settingsFault === null,
    ...recovery.state(),
    bus: bus.status(),
    ...railReadiness(rail.faults()),
    ...(screening === undefined ? {} : { screening: screening.fault() ?? 'up' }),
    disk: disk.isLow() ? 'low' : 'ok',
    ...degradedBy(faultsOf(sources)),
    ...(member === undefined ? {} : { ...ownerOf(member), gateways: sources.gateways() }),
    ...(memory.settingsFault === null ? {} : { settings_fault: memory.settingsFault }),
  }
  return state
}

/** To the supervisor, with the port that gateways call. */
export function readyInfo(port: number, sources: ReadinessSources): ReadyInfo {
  const { recovery, member } = sources
  return {
    port,
    ...recovery.state(),
    ...degradedBy([...linkFaultsOf(sources), ...faultsOf(sources)]),
    ...(member === undefined ? {} : { shard: member.shard }),
  }
}

export function ownerOf({ name, shard, epoch }: Member): object {
  return { processor: name, shard, epoch }
}

function railReadiness(faults: ReadonlyMap<string, string | null>): object {
  const named = [...faults]
  const [first] = named.filter(([, fault]) => fault !== null)
  return {
    rails: Object.fromEntries(named.map(([name, fault]) => [name, fault ?? 'up'])),
    ...(first === undefined
      ? { rail: 'up' }
      : { rail: 'down', rail_fault: named.length === 1 ? first[1] : first.join(': ') }),
  }
}

/** Links that are down. `/readyz` of the processor itself has a member for each. */
function linkFaultsOf({ rail, bus, screening }: ReadinessSources): readonly string[] {
  const asked = screening?.fault() ?? null
  return [
    ...[...rail.faults()].flatMap(([name, fault]) =>
      fault === null ? [] : [`the link to the rail ${name} is down: ${fault}`],
    ),
    ...(bus.status() === 'up' ? [] : ['the bus is down: events wait in the outbox']),
    ...(asked === null ? [] : [`screening does not answer: ${asked}`]),
  ]
}

/** What does not work as it should, while payments go on. */
function faultsOf(sources: ReadinessSources): readonly string[] {
  const { books, bus, openWork, member, memory, rules } = sources
  return [
    ...[bus.refusal() ?? []].flat().map((reason) => `the bus refuses events: ${reason}`),
    ...[books.damage() ?? []].flat(),
    ...[books.synchrony?.()?.fault ?? []].flat(),
    ...[...openWork.unnamedRails()].map(
      ([name, count]) => `RAILS_FILE does not name the rail ${name} of ${count} open payments`,
    ),
    ...[member?.reachedInstead() ?? []]
      .flat()
      .map((other) => `no gateway reaches this processor, and ${other} is reached`),
    ...[...memory.pauses.keys()].map((subject) => `submissions are paused: ${subject}`),
    ...routesNotCarried(memory, rules.rails).map(
      ({ route, rail: name }) => `RAILS_FILE does not give ${route} to its rail ${name}`,
    ),
  ]
}
