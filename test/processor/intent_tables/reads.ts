/** Reads of an intent and its receipt in every state, limited to its own tenant and user. */
import { authorized, captured } from '../intent_lifecycle.js'
import {
  becomes,
  created,
  ENDED,
  NOT_FOUND,
  ofOthers,
  type Request,
  type Row,
  type Table,
} from './row.js'

const atEveryStage =
  (request: Request): Table =>
  () => [
    ...Object.entries({ created, authorized, ...ENDED }).map(([name, given]): Row => [
      name,
      given,
      request,
      becomes(name),
    ]),
    ...ofOthers(request, NOT_FOUND),
  ]

export const get = atEveryStage((lifecycle) => lifecycle.get())
export const receipt = atEveryStage((lifecycle) => lifecycle.receipt())
export const receiptToken = atEveryStage((lifecycle) => lifecycle.mintReceipt())

export const anothersReceipt: Table = () => [
  ['captured', captured, (lifecycle) => lifecycle.receipt('x'), NOT_FOUND],
]
