/** Headers of answers, and the names of the brand headers of requests. */

export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

/** Names of the brand headers (`X-Service-*`), in lower case. */
export interface BrandHeaders {
  readonly keyId: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
  /** The app package of a session request. */
  readonly package: string
}

export function brandHeaders(brand: string): BrandHeaders {
  const prefix = `x-${brand.toLowerCase()}`
  return {
    keyId: `${prefix}-key-id`,
    timestamp: `${prefix}-timestamp`,
    nonce: `${prefix}-nonce`,
    signature: `${prefix}-signature`,
    package: `${prefix}-package`,
  }
}

export const namesOf = (headers: BrandHeaders): readonly string[] =>
  Object.values<string>({ ...headers })
