/**
 * Reports to systemd (sd_notify(3)): ready, stopping, status, watchdog.
 *
 * - Node has no Unix datagram sockets, so `systemd-notify` sends the messages: it is there wherever
 *   NOTIFY_SOCKET is, and needs no native addon. One shell, started once, runs it for each line of
 *   a pipe, because a fork of a large process would delay its requests.
 * - The unit needs `NotifyAccess=all`, since the messages come from other processes of the unit.
 * - A watchdog message is sent by a timer of the main thread: a blocked event loop sends none.
 * - Without NOTIFY_SOCKET nothing happens.
 */
import { spawn } from 'node:child_process'
import { serviceVariables } from '../settings/settings_reader.js'

/** Signals end the process, not the shell, which must still report the stop. */
const RELAY = 'trap \'\' TERM INT HUP; while IFS= read -r line; do systemd-notify "$line"; done'

export interface ServiceManager {
  ready(): void
  stopping(): void
}

const NONE: ServiceManager = { ready: () => undefined, stopping: () => undefined }

export function connectServiceManager(variables = serviceVariables()): ServiceManager {
  const { NOTIFY_SOCKET, PATH } = variables
  if (NOTIFY_SOCKET === undefined) return NONE
  const shell = spawn('/bin/sh', ['-c', RELAY], {
    env: { NOTIFY_SOCKET, PATH },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  // A missing shell or a closed pipe must not end the process.
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  const send = (...lines: readonly string[]): void =>
    void shell.stdin.write(lines.map((line) => `${line}\n`).join(''))

  return {
    ready: () => {
      send('STATUS=serving', 'READY=1')
      const everyMs = watchdogIntervalOf(variables)
      if (everyMs !== undefined) setInterval(() => send('WATCHDOG=1'), everyMs).unref()
    },
    stopping: () => send('STOPPING=1', 'STATUS=finishing open requests'),
  }
}

/** Half of what systemd allows, as it recommends. */
function watchdogIntervalOf({
  WATCHDOG_USEC,
  WATCHDOG_PID,
}: ReturnType<typeof serviceVariables>): number | undefined {
  const isOurs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid
  const microseconds = Number(WATCHDOG_USEC)
  return isOurs && microseconds > 0 ? microseconds / 2_000 : undefined
}
