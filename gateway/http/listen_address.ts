/**
 * Checks the listen address: beyond loopback the partner API requires TLS, because session tokens
 * are secrets that a signature does not hide.
 */
import { isLoopback } from '../../src/base/network.js'
import type { Settings } from '../../src/settings/settings.js'
import { SettingsError } from '../../src/settings/settings_reader.js'

export function checkListenAddress(settings: Settings): void {
  const { HTTP_HOST, TLS_CERT_FILE } = settings
  if (TLS_CERT_FILE !== '' || isLoopback(HTTP_HOST)) return
  throw new SettingsError(
    `HTTP_HOST=${HTTP_HOST} is not allowed without TLS_CERT_FILE and TLS_KEY_FILE: ` +
      'tokens would cross the network in the clear',
  )
}
