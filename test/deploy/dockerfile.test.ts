/** The Dockerfile and its context; and that no file of the folder has a secret. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { SETTINGS } from '../../src/settings/settings.js'
import { filesIn, programIn, textOf } from './deployment.js'

const dockerfile = textOf('Dockerfile')
const ignored = readFileSync(join(projectRoot(), '.dockerignore'), 'utf8').split('\n')
const exists = (path: string): boolean => existsSync(join(projectRoot(), path))

t.test('the image has what exists, as a user without rights', async (t) => {
  for (const [, words = ''] of dockerfile.matchAll(/^CMD (\[.*\])$/gm)) {
    t.ok(exists(`.build/${programIn(JSON.parse(words) as string[])}`), words)
  }
  for (const [, path = ''] of dockerfile.matchAll(/^COPY --from=build \/build\/(\S+)/gm)) {
    t.ok(exists(path), path)
    const top = path.split('/')[0]
    t.ok(
      ['node_modules', '.build'].includes(path) || ignored.includes(`!${top}`),
      `${path}: copied`,
    )
  }
  const variables = [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, text = '']) =>
    [...text.matchAll(/([A-Z_]+)=/g)].map(([, name = '']) => name),
  )
  t.strictSame(
    variables.filter((name) => !Object.hasOwn(SETTINGS, name)),
    ['NODE_ENV', 'UWS_HTTP_MAX_HEADERS_SIZE'],
  )
  t.match(dockerfile, `OPS_PORT ?? ${SETTINGS.OPS_PORT.fallback}`, 'the health check')
  t.match(dockerfile, 'node:24-trixie-slim', 'Debian 13 and Node 24')
  t.match(
    dockerfile,
    /install .* postgresql \\$/m,
    'pg_verifybackup needs pg_waldump of the server',
  )
  const users = [...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)
  t.equal(users.at(-1), '10001:10001')
  t.equal(
    ignored.find((line) => line !== '' && !line.startsWith('#')),
    '*',
    'all is left out first',
  )
})

/** Private keys, passwords in URLs, long tokens, keys of master key files. */
const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /:\/\/[^\s:/$]+:[^\s@$/]+@/,
  /\b[0-9a-f]{32,}\b/,
  /(password|token|secret)["']?\s*[:=]\s*["']?[A-Za-z0-9+/]{16,}/i,
]

t.test('no file has a secret', async (t) => {
  const holds = (text: string): boolean => SECRETS.some((pattern) => pattern.test(text))
  for (const sample of [
    'postgres://a:b@c',
    'password: "abcdefghijklmnop1"',
    `k1:${'a1'.repeat(32)}`,
  ])
    t.ok(holds(sample), sample)
  for (const file of filesIn('.').filter((each) => !each.endsWith('.ts'))) {
    for (const [i, line] of textOf(file).split('\n').entries()) {
      t.notOk(holds(line.replaceAll('…', '$')), `${file}:${i + 1}`)
    }
  }
})
