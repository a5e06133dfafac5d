/** Reads of an intent and its receipt in every state, limited to its own tenant and user. */
import { authorized, captured } from '../intent_lifecycle.js'
import { becomes, ENDED, NOT_FOUND, OTHER_TENANT, UNKNOWN, type Row, type Table } from './row.js'

const atEveryStage =
  (request: Row['request']): Table =>
  () => [
    { name: 'created', request, ...becomes('created') },
    { name: 'authorized', given: authorized, request, ...becomes('authorized') },
    ...Object.entries(ENDED).map(([name, given]) => ({ name, given, request, ...becomes(name) })),
    { name: 'unknown', request: (lifecycle) => request(lifecycle.as(UNKNOWN)), ...NOT_FOUND },
    {
      name: "another tenant's",
      request: (lifecycle) => request(lifecycle.as(OTHER_TENANT)),
      ...NOT_FOUND,
    },
  ]

export const get = atEveryStage((lifecycle) => lifecycle.get())
export const receipt = atEveryStage((lifecycle) => lifecycle.receipt())
export const receiptToken = atEveryStage((lifecycle) => lifecycle.mintReceipt())

export const anothersReceipt: Table = () => [
  {
    name: 'captured',
    given: captured,
    request: (lifecycle) => lifecycle.receipt('x'),
    ...NOT_FOUND,
  },
]
