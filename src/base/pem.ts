/** Certificates in PEM files. */
import { X509Certificate } from 'node:crypto'

const ONE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** @throws Error when one of them is malformed */
export const certificatesIn = (text: string): readonly X509Certificate[] =>
  (text.match(ONE) ?? []).map((each) => new X509Certificate(each))
