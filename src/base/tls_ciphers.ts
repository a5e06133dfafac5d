/**
 * The cipher suites of our TLS servers: with TLS 1.2 only those with forward secrecy (ECDHE) and
 * authenticated encryption. TLS 1.3 has no others.
 */

/** The names of OpenSSL and BoringSSL. */
export const TLS_1_2_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
]

/** Node names those of TLS 1.3 in the same list. */
export const NODE_CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...TLS_1_2_CIPHERS,
].join(':')
