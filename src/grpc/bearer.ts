/** The metadata with which our clients present a token; none without one. */
import { Metadata } from '@grpc/grpc-js'

export function bearer(token: string): Metadata {
  const metadata = new Metadata()
  if (token !== '') metadata.set('authorization', `Bearer ${token}`)
  return metadata
}
