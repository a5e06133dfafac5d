/**
 * New secrets, token ids and nonces: pure randomness in the text form in which they are shown.
 *
 * Owns: their sizes and prefixes. Does not own: storing them (auth/secret_box), the tokens of
 * callers (auth/caller_token).
 *
 * - A secret has 256 random bits, a token id 128. None holds a time, a counter or a name.
 */
import type { Random } from '../base/random.js'

/** 128 random bits as 22 base64url characters. */
export type TokenId = string & { readonly __brand: 'TokenId' }

export const newSigningSecret = (random: Random): string => `sk_${text(random, 32)}`

export const newWebhookSecret = (random: Random): string => `whsec_${text(random, 32)}`

export const newTokenId = (random: Random): TokenId => text(random, 16) as TokenId

/** 64 lower-case hex characters, for a call or a webhook that we sign. */
export const newNonce = (random: Random): string => random.bytes(32).toString('hex')

const text = (random: Random, bytes: number): string => random.bytes(bytes).toString('base64url')
