/**
 * Every metric family, declared once. The collectors take their names, labels and texts from
 * here, and the operators' page is generated from it (`make metrics`).
 *
 * - A name is never reused for another meaning. A renamed one is listed in CHANGELOG.md.
 */
import type { Family } from './family.js'
import { GATEWAY_FAMILIES } from './gateway_families.js'
import { PAYMENT_FAMILIES } from './payment_families.js'
import {
  ADAPTER_FAMILIES,
  CERTIFICATE_FAMILIES,
  CONSOLE_FAMILIES,
  DISK_FAMILIES,
  DISK_RESERVE_FAMILIES,
  PROCESS_FAMILIES,
  STORE_FILE_FAMILIES,
  SUPERVISOR_FAMILIES,
  TRACE_FAMILIES,
} from './process_families.js'
import {
  BOOKS_FAMILIES,
  BUS_FAMILIES,
  BUS_LINK_FAMILIES,
  GRPC_FAMILIES,
  PIPELINE_FAMILIES,
  POSTGRES_FAMILIES,
  RAIL_FAMILIES,
  SCREENING_FAMILIES,
  SHARD_FAMILIES,
} from './processor_families.js'
import { WEBHOOK_FAMILIES } from './webhook_families.js'

/** The kind of a process; one of several has its number in the label `process`. */
export type ProcessKind = 'gateway' | 'processor' | 'webhooks' | 'rail' | 'console' | 'supervisor'

const ALL_FAMILIES = {
  ...PAYMENT_FAMILIES,
  ...PIPELINE_FAMILIES,
  ...GRPC_FAMILIES,
  ...RAIL_FAMILIES,
  ...SCREENING_FAMILIES,
  ...ADAPTER_FAMILIES,
  ...BUS_LINK_FAMILIES,
  ...BUS_FAMILIES,
  ...BOOKS_FAMILIES,
  ...POSTGRES_FAMILIES,
  ...SHARD_FAMILIES,
  ...GATEWAY_FAMILIES,
  ...WEBHOOK_FAMILIES,
  ...STORE_FILE_FAMILIES,
  ...DISK_FAMILIES,
  ...DISK_RESERVE_FAMILIES,
  ...SUPERVISOR_FAMILIES,
  ...CONSOLE_FAMILIES,
  ...TRACE_FAMILIES,
  ...CERTIFICATE_FAMILIES,
  ...PROCESS_FAMILIES,
} as const

export type FamilyName = keyof typeof ALL_FAMILIES
/** The values of a family's labels, in their order. */
export type LabelValues<N extends FamilyName> = TextsOf<(typeof ALL_FAMILIES)[N]['labels']>
type TextsOf<Labels extends readonly string[]> = { readonly [I in keyof Labels]: string }
type OfType<T extends Family['type']> = {
  [N in FamilyName]: (typeof ALL_FAMILIES)[N]['type'] extends T ? N : never
}[FamilyName]
export type CounterName = OfType<'counter'>
export type HistogramName = OfType<'histogram'>
export type ReadableName = OfType<'counter' | 'gauge'>

export const FAMILIES: Readonly<Record<FamilyName, Family>> = ALL_FAMILIES

export interface FamilyGroup {
  readonly title: string
  readonly processes: readonly ProcessKind[]
  readonly names: readonly FamilyName[]
}

const PROCESSOR = ['processor'] as const
const groupOf = (
  title: string,
  processes: readonly ProcessKind[],
  families: Partial<typeof ALL_FAMILIES>,
): FamilyGroup => ({ title, processes, names: Object.keys(families) as FamilyName[] })

/** As the page shows them. */
export const FAMILY_GROUPS: readonly FamilyGroup[] = [
  groupOf('Payments', PROCESSOR, PAYMENT_FAMILIES),
  groupOf('Commands and commits', PROCESSOR, PIPELINE_FAMILIES),
  groupOf('gRPC port', PROCESSOR, GRPC_FAMILIES),
  groupOf('Rail', PROCESSOR, RAIL_FAMILIES),
  groupOf('Screening', PROCESSOR, SCREENING_FAMILIES),
  groupOf('ISO 20022 adapter', ['rail'], ADAPTER_FAMILIES),
  groupOf('Link to the bus', ['processor', 'webhooks'], BUS_LINK_FAMILIES),
  groupOf('Bus', PROCESSOR, BUS_FAMILIES),
  groupOf('Books', PROCESSOR, BOOKS_FAMILIES),
  groupOf('PostgreSQL', PROCESSOR, POSTGRES_FAMILIES),
  groupOf('Shards', PROCESSOR, SHARD_FAMILIES),
  groupOf('Partner API', ['gateway'], GATEWAY_FAMILIES),
  groupOf('Webhooks', ['webhooks'], WEBHOOK_FAMILIES),
  groupOf('Database files', ['processor', 'webhooks', 'rail'], STORE_FILE_FAMILIES),
  groupOf('Traces', ['gateway', 'processor', 'webhooks', 'rail'], TRACE_FAMILIES),
  groupOf('Disk', ['processor', 'webhooks', 'rail', 'supervisor'], DISK_FAMILIES),
  groupOf('Reserve of the disk', ['processor', 'supervisor'], DISK_RESERVE_FAMILIES),
  groupOf(
    'Certificates',
    ['gateway', 'processor', 'webhooks', 'rail', 'console'],
    CERTIFICATE_FAMILIES,
  ),
  groupOf('Stack', ['supervisor'], SUPERVISOR_FAMILIES),
  groupOf('Console', ['console'], CONSOLE_FAMILIES),
  groupOf('Every process', ['gateway', 'processor', 'webhooks', 'rail', 'console', 'supervisor'], {
    ...PROCESS_FAMILIES,
  }),
]
