/** An intent and its receipt: shown at every stage, to its tenant and its user alone. */
import { authorized, captured } from '../intent_life.js'
import { becomes, ENDED, NOT_FOUND, STRANGER, UNKNOWN, type Row, type Table } from './row.js'

const atEveryStage =
  (ask: Row['ask']): Table =>
  () => [
    { name: 'created', ask, ...becomes('created') },
    { name: 'authorized', given: authorized, ask, ...becomes('authorized') },
    ...Object.entries(ENDED).map(([name, given]) => ({ name, given, ask, ...becomes(name) })),
    { name: 'unknown', ask: (life) => ask(life.as(UNKNOWN)), ...NOT_FOUND },
    { name: "another tenant's", ask: (life) => ask(life.as(STRANGER)), ...NOT_FOUND },
  ]

export const get = atEveryStage((life) => life.get())
export const receipt = atEveryStage((life) => life.receipt())
export const receiptToken = atEveryStage((life) => life.mintReceipt())

export const anothersReceipt: Table = () => [
  { name: 'captured', given: captured, ask: (life) => life.receipt('x'), ...NOT_FOUND },
]
