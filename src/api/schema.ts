/**
 * Builders of answer schemas (JSON Schema 2020-12, as in OpenAPI 3.1).
 *
 * - Answers are open in the document: clients ignore members they do not know. Tests close them
 *   (test/contract/answer_validator.ts), so an undocumented member fails there.
 */
export type Schema = Readonly<Record<string, unknown>>
export type Properties = Readonly<Record<string, Schema>>

/** An object whose `required` members are always present and whose `optional` ones may be. */
export const objectOf = (
  description: string,
  required: Properties,
  optional: Properties = {},
): Schema => ({
  type: 'object',
  description,
  required: Object.keys(required),
  properties: { ...required, ...optional },
})

/** A schema of `components.schemas`, described in its place. */
export const ref = (name: string, description?: string): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(description === undefined ? {} : { description }),
})

export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more,
})

export const orNull = (schema: Schema, description: string): Schema => ({
  oneOf: [schema, { type: 'null' }],
  description,
})

export const listOf = (items: Schema, description: string): Schema => ({
  type: 'array',
  description,
  items,
})

/** A page of a list (gateway/guide/operations.md, Lists). */
export const pageOf = (item: string, description: string): Schema =>
  objectOf(description, {
    data: listOf(ref(item), 'Newest first. A page can hold fewer items than `limit`.'),
    next_cursor: {
      type: ['string', 'null'],
      description: 'Pass it as `cursor` to get the next page; `null` ends the list.',
    },
  })
