/**
 * A self-signed test certificate for localhost and 127.0.0.1, valid until 2126. Its key is public.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pair } from '../support/certificates.js'

export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUCeDmuBZmsjz9AdDu6RfbCqToSnYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA1MzcwNVoYDzIxMjYxMDI4
MDUzNzA1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT61CJiH/ssnS+z7CJnWfJcbNYYYDDmN2M5cnZOYqg0Om8ZeMUMEs9c
DjMAw3XrCIfIE7X1jDtCntw1aESneNDio28wbTAdBgNVHQ4EFgQUkZbKI9MNjxwx
8rV9dPdxPnYzkIUwHwYDVR0jBBgwFoAUkZbKI9MNjxwx8rV9dPdxPnYzkIUwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgU1YnjRtIUAXRkqnk5G0wDwLVI93Bhy53eN0WDkb1ErQCIQC8
54jdGWTHfsmnrjlEwtDsV8oScz6cw3N6Sd0SNhCP/Q==
-----END CERTIFICATE-----
`
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmbeBWrRZxKH0/3gy
71q4acPNlAoNHIdpVKkhgLLUrbGhRANCAAT61CJiH/ssnS+z7CJnWfJcbNYYYDDm
N2M5cnZOYqg0Om8ZeMUMEs9cDjMAw3XrCIfIE7X1jDtCntw1aESneNDi
-----END PRIVATE KEY-----
`

/** Both as files in this folder, by the names of their settings. */
export function certificateFiles(
  folder: string,
  { certificate, key }: Pair = { certificate: CERTIFICATE, key: KEY },
): Record<'TLS_CERT_FILE' | 'TLS_KEY_FILE', string> {
  const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') }
  writeFileSync(files.TLS_CERT_FILE, certificate)
  writeFileSync(files.TLS_KEY_FILE, key)
  return files
}
