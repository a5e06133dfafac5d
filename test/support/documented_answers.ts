/**
 * Requires every answer that a test gets from the partner API to be in the OpenAPI document.
 *
 * - An undocumented answer rejects the request, and fails the test file even when the rejection is
 *   caught.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENT_FILE } from '../../gateway/openapi/served.js'
import { projectRoot } from '../../src/base/project_root.js'
import type { Connection } from '../../src/client/index.js'
import {
  createAnswerValidator,
  type AnswerToCheck,
  type AnswerValidator,
  type OpenApiDocument,
} from '../contract/answer_validator.js'
import { throughEachCall } from './each_call.js'

export class UndocumentedAnswer extends Error {
  override name = 'UndocumentedAnswer'
}

export const readDocument = (): OpenApiDocument =>
  JSON.parse(readFileSync(join(projectRoot(), DOCUMENT_FILE), 'utf8')) as OpenApiDocument

let validator: AnswerValidator | undefined
const documented = (): AnswerValidator => (validator ??= createAnswerValidator(readDocument()))

/** @throws UndocumentedAnswer */
export function requireDocumented(method: string, path: string, answer: AnswerToCheck): void {
  const fault = documented().faultOf(method, path, answer)
  if (fault === undefined) return
  const message = `${method} ${path}: ${answer.status}: ${fault}: ${JSON.stringify(answer.body)}`
  failAtExit(message)
  throw new UndocumentedAnswer(message)
}

/** Whether the body of a webhook is documented; else the test file fails. */
export function isDocumentedEvent(body: Buffer): boolean {
  const fault = documented().faultOfEvent(JSON.parse(body.toString()))
  if (fault !== undefined) failAtExit(`webhook: ${fault}: ${body.toString()}`)
  return fault === undefined
}

function failAtExit(message: string): void {
  process.once('exit', () => {
    console.error(message)
    process.exitCode = 1
  })
}

/** The same connection, which accepts documented answers only. */
export const requiringDocumented = (connection: Connection): Connection =>
  throughEachCall(connection, async (call, { method, path }) => {
    const answer = await call()
    requireDocumented(method, path, answer)
    return answer
  })
