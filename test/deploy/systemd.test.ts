/** The systemd units: their form, their sandbox, and what they name. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../support/temp_folder.js'
import { faultsOf, filesIn, textOf } from './deployment.js'

const EXPOSURE_MAX = 3
const UNITS = '/usr/lib/systemd/system'
const files = filesIn('systemd').filter((file) => file.endsWith('.service'))
/** A template is checked as its first instance. */
const instance = (text: string): string => text.replaceAll('%i', '1')
const unitOf = (file: string): string => basename(file).replace('@.', '@1.')

t.test('programs, settings and users of the units exist', async (t) => {
  t.ok(files.length >= 7)
  const users = [...textOf('systemd/sysusers.conf').matchAll(/^u (\S+)/gm)].map(([, name]) => name)
  for (const file of files) {
    const text = instance(textOf(file))
    const command = /^ExecStart=(\S+) (.*)$/m.exec(text)
    t.equal(command?.[1], '/usr/bin/node', file)
    const environment = Object.fromEntries(
      [...text.matchAll(/^Environment=([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [
        String(name),
        String(value),
      ]),
    )
    const secrets = /^EnvironmentFile=\/(.*)$/m.test(text) ? { DOT_ENV: '' } : {}
    const given = { ...environment, ...secrets }
    t.strictSame(faultsOf((command?.[2] ?? '').split(' '), given), [], file)
    t.ok(users.includes(/^User=(.*)$/m.exec(text)?.[1]), `${file}: its user`)
    if (environment['PROCESSOR_ADDRESS'] !== undefined) {
      t.match(text, /^# .*\bPROCESSORS\b[^]*^EnvironmentFile=/m, `${file}: of several processors`)
    }
    const folder = /^StateDirectory=(\S+)/m.exec(text)?.[1]
    t.equal(environment['DATA_DIR'], folder && `/var/lib/${folder}`, `${file}: its data`)
  }
})

t.test('the file of a processor names its first operator', async (t) => {
  t.match(textOf('systemd/causeway-processor.service'), /^# .*\boperator:NAME:sha256:DIGEST/m)
})

t.test('systemd finds no fault, and each sandbox is tight', async (t) => {
  const root = tempFolder(t)
  for (const folder of ['usr/bin', 'bin', 'etc/systemd/system', UNITS]) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  for (const program of ['usr/bin/node', 'bin/sh']) {
    writeFileSync(join(root, program), '#!/bin/sh\n')
    chmodSync(join(root, program), 0o755)
  }
  // The units that every other one depends on.
  for (const name of readdirSync(UNITS).filter((each) => /\.(target|slice|mount)$/.test(each))) {
    copyFileSync(join(UNITS, name), join(root, UNITS, name))
  }
  const install = (name: string, text: string): void =>
    writeFileSync(join(root, 'etc/systemd/system', name), text)
  const analyze = (...args: string[]): string =>
    execFileSync('/bin/sh', ['-c', 'systemd-analyze "$@" 2>&1', 'sh', ...args], {
      encoding: 'utf8',
    })
  const verify = (name: string): string => analyze('verify', `--root=${root}`, name)

  for (const file of files) {
    const unit = unitOf(file)
    install(unit, textOf(file))
    t.equal(verify(unit), '', unit)
    const report = analyze('security', '--offline=true', `--root=${root}`, unit)
    const exposure = /Overall exposure level for \S+: ([0-9.]+)/.exec(report)?.[1]
    t.ok(Number(exposure) < EXPOSURE_MAX, `${unit}: exposure ${exposure}`)
  }
  install('wrong.service', textOf('systemd/causeway.service').replace('Type=', 'Kind='))
  t.match(verify('wrong.service'), /Unknown key/, 'a fault is found')
})
