/**
 * Which Host headers a server for operators accepts: a web page must not reach it by DNS rebinding.
 *
 * - Loopback names, and those that a setting lists. A server beyond loopback also accepts every IP
 *   address: a page cannot have one of ours.
 */
import { isIP } from 'node:net'
import { isLoopback, splitAddress } from '../base/network.js'

const LOOPBACK_NAME = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

export function allowedHosts(
  listensOn: string,
  hosts: readonly string[],
): (header: string | undefined) => boolean {
  const anyAddress = !isLoopback(listensOn)
  return (header = '') => {
    const name = header.replace(/:[0-9]*$/, '').toLowerCase()
    if (LOOPBACK_NAME.test(name) || hosts.includes(name)) return true
    return anyAddress && isIP(splitAddress(`${name}:0`).host) !== 0
  }
}
