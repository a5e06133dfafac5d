/** Reads of an intent and its receipt in every state, by its own tenant and user only. */
import { authorized, captured } from '../intent_lifecycle.js'
import { becomes, ENDED, NOT_FOUND, STRANGER, UNKNOWN, type Row, type Table } from './row.js'

const atEveryStage =
  (ask: Row['ask']): Table =>
  () => [
    { name: 'created', ask, ...becomes('created') },
    { name: 'authorized', given: authorized, ask, ...becomes('authorized') },
    ...Object.entries(ENDED).map(([name, given]) => ({ name, given, ask, ...becomes(name) })),
    { name: 'unknown', ask: (lifecycle) => ask(lifecycle.as(UNKNOWN)), ...NOT_FOUND },
    { name: "another tenant's", ask: (lifecycle) => ask(lifecycle.as(STRANGER)), ...NOT_FOUND },
  ]

export const get = atEveryStage((lifecycle) => lifecycle.get())
export const receipt = atEveryStage((lifecycle) => lifecycle.receipt())
export const receiptToken = atEveryStage((lifecycle) => lifecycle.mintReceipt())

export const anothersReceipt: Table = () => [
  { name: 'captured', given: captured, ask: (lifecycle) => lifecycle.receipt('x'), ...NOT_FOUND },
]
