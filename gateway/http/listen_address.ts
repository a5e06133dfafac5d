/**
 * Where the partner API may listen.
 *
 * - Beyond loopback only with TLS: signatures hide nothing, and a session token is a secret.
 */
import ipaddr from 'ipaddr.js'
import { SettingsError, type Settings } from '../../src/base/settings.js'

export function checkListenAddress(settings: Settings): void {
  const { HTTP_HOST, TLS_CERT_FILE } = settings
  if (TLS_CERT_FILE !== '' || isLoopback(HTTP_HOST)) return
  throw new SettingsError(
    `HTTP_HOST=${HTTP_HOST} is not allowed without TLS_CERT_FILE and TLS_KEY_FILE: ` +
      'tokens would cross the network in the clear',
  )
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
