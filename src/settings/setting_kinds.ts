/** Kinds of settings: their allowed values and how a text is read. */
import { isIP } from 'node:net'
import { TOKEN_MIN_CHARACTERS } from '../files/secret_file.js'

export interface Setting<T> {
  readonly fallback: string
  readonly allowed: string
  readonly about: string
  /** What of the value is never printed. Default: nothing. */
  readonly secret?: 'password' | 'all'
  /** @returns undefined when the value is not allowed */
  read(text: string): T | undefined
}

export const whole = (
  fallback: number,
  min: number,
  max: number,
  about: string,
): Setting<number> => ({
  fallback: String(fallback),
  allowed: `a whole number from ${min} to ${max}`,
  about,
  read: (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

/** A retention in days. 0 means for good. */
export const days = (min: number, about: string): Setting<number> => {
  const { read } = whole(0, min, 36_500, about)
  return {
    fallback: '0',
    allowed: `a whole number from ${min} to 36500, or 0: for good`,
    about,
    read: (text) => (text === '0' ? 0 : read(text)),
  }
}

export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
  about: string,
): Setting<Choice> => ({
  fallback,
  allowed: choices.join(' or '),
  about,
  read: (text) => choices.find((choice) => choice === text),
})

export const toggle = (fallback: boolean, about: string): Setting<boolean> => ({
  fallback: String(fallback),
  allowed: 'true or false',
  about,
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
})

export const text = (
  fallback: string,
  shape: RegExp,
  allowed: string,
  about: string,
): Setting<string> => ({
  fallback,
  allowed,
  about,
  read: (value) => (shape.test(value) ? value : undefined),
})

export const list = (
  fallback: string,
  shape: { test(item: string): boolean },
  allowed: string,
  about: string,
): Setting<readonly string[]> => ({
  fallback,
  allowed: `comma-separated: ${allowed}`,
  about,
  read: (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    return items.every((item) => shape.test(item)) ? items : undefined
  },
})

/** One IP address, or a CIDR block. */
export const ADDRESSES = {
  test: (item: string): boolean => {
    const [address = '', bits, more] = item.split('/')
    const family = isIP(address)
    if (family === 0 || more !== undefined) return false
    if (bits === undefined) return true
    return /^(0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  },
}
/** Quotes of a file that nothing unquotes, blanks and CR would name another file than is meant. */
const PATH = /^(?!["'\s]|.*["'\s]$)[^\0\r\n]*$/
const LISTEN = /^[0-9a-fA-F.:]+$|^localhost$/
export const ADDRESS = /^unix:[^\0]+$|^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/
const CREDENTIALS_URL = /^([a-z]+):\/\/(?:([^@:/?#]*(?::[^@:/?#]*)?)@)?[^@]*$/
const TOKEN = new RegExp(`^(?:[\\x21-\\x7e]{${TOKEN_MIN_CHARACTERS},})?$`)
export const CALLER = {
  test: (item: string): boolean => {
    const [kind = '', name = '', credential = '', value = '', ...more] = item.split(':')
    if (more.length > 0 || !CALLER_KIND.test(kind) || !CALLER_NAME.test(name)) return false
    if (credential === 'sha256') return /^[0-9a-f]{64}$/.test(value)
    return credential === 'certificate' && /^[^\s]{1,255}$/.test(value)
  },
}
const CALLER_KIND = /^(?:operator|service|gateway|webhooks|supervisor|processor|console)$/
const CALLER_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/
const HOST = /^[a-z0-9.-]{1,253}$/

export const path = (about: string, fallback = ''): Setting<string> =>
  text(fallback, PATH, 'a path without quotes or blanks around it', about)

/** Nothing here expands a `~`, and an empty path is the working folder. */
export const folder = (about: string, fallback: string): Setting<string> => ({
  ...path(about, fallback),
  allowed: 'the path of a directory without quotes or blanks around it; ~ is not expanded',
  read: (value) => (/^(?!~(?:\/|$))./.test(value) && PATH.test(value) ? value : undefined),
})

export const host = (about: string): Setting<string> =>
  text('127.0.0.1', LISTEN, 'an IP address or localhost', about)

export const hosts = (about: string, fallback = ''): Setting<readonly string[]> =>
  list(fallback, HOST, 'host names', about)

export const port = (about: string, fallback: number): Setting<number> =>
  whole(fallback, 0, 65_535, `${about}; 0 takes a free one`)

export const address = (about: string, fallback: string): Setting<string> =>
  text(fallback, ADDRESS, 'host:port or unix:PATH', about)

export const addresses = (about: string): Setting<readonly string[]> =>
  list('', ADDRESS, 'host:port or unix:PATH', about)

export const token = (about: string): Setting<string> => ({
  ...text('', TOKEN, `a token of ${TOKEN_MIN_CHARACTERS} characters or more`, about),
  secret: 'all',
})

/**
 * A URL that can have a user and a password, or nothing. One that could be split in two ways is not
 * allowed: a part of its password would be taken for a host, and printed.
 */
export const url = (schemes: readonly string[], form: string, about: string): Setting<string> => ({
  fallback: '',
  allowed:
    `${schemes.map((scheme) => `${scheme}://${form}`).join(' or ')}, where ` +
    '@ : / ? # % in USER and PASSWORD are percent-encoded (@ is %40, / is %2F)',
  about,
  secret: 'password',
  read: (value) => (value === '' || isUnambiguousUrl(value, schemes) ? value : undefined),
})

/** An HTTP URL without a user, or nothing. @param rest what may follow the `//` */
export const webUrl = (rest: RegExp, allowed: string, about: string): Setting<string> => ({
  ...{ fallback: '', allowed, about, secret: 'password' },
  read: (value) => {
    const [, written] = /^https?:\/\/(.*)$/.exec(value) ?? []
    return value === '' || (written !== undefined && rest.test(written)) ? value : undefined
  },
})

function isUnambiguousUrl(value: string, schemes: readonly string[]): boolean {
  const [, scheme = '', credentials = ''] = CREDENTIALS_URL.exec(value) ?? []
  return schemes.includes(scheme) && isDecodable(credentials)
}

function isDecodable(credentials: string): boolean {
  try {
    decodeURIComponent(credentials)
    return true
  } catch {
    return false
  }
}

/** @param most maximum length after the first letter */
export const schema = (about: string, fallback: string, most: number): Setting<string> =>
  text(
    fallback,
    new RegExp(`^[a-z][a-z0-9_]{0,${most}}$`),
    'lower-case letters, digits and underscores',
    about,
  )
