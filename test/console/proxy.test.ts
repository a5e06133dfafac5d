/** The console behind a proxy on its machine, which ends the TLS of browsers. */
import t, { type Test } from 'tap'
import { createCallers } from '../../src/auth/callers.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld } from '../support/world.js'
import { operator, serveConsole, tokenOf } from './served_console.js'
import { requestPage } from './stack.js'

const TOKEN = tokenOf('ann')

/** @returns its address */
async function startConsole(t: Test): Promise<string> {
  const world = await createWorld(t)
  const callers = createCallers([operator('ann')], world.clock)
  const { address } = await serveShard(t, {
    ...{ world, shard: 'books_1', shards: ['books_1'], callers },
  })
  return serveConsole(t, { processors: [address], clock: world.clock })
}

t.test('a browser that speaks TLS sends the cookie over TLS only', async (t) => {
  const url = await startConsole(t)
  const signIn = async (origin: string): Promise<string> => {
    const { status, headers } = await requestPage(`${url}/sign-in`, {
      ...{ method: 'POST', headers: { origin }, form: { token: TOKEN, next: '/' } },
    })
    t.equal(status, 303)
    return headers['set-cookie']?.[0] ?? ''
  }
  t.match(await signIn(url.replace('http:', 'https:')), /; HttpOnly; Secure; SameSite=Strict$/)
  t.match(await signIn(url), /; HttpOnly; SameSite=Strict$/, 'a tunnel speaks plain HTTP')
})

t.test('failed sign-ins behind a proxy count for the address that it has seen', async (t) => {
  const url = await startConsole(t)
  const signIn = async (forwardedFor: string, token: string): Promise<number> => {
    const headers = { origin: url, 'x-forwarded-for': forwardedFor }
    const given = { method: 'POST', headers, form: { token, next: '/' } }
    return (await requestPage(`${url}/sign-in`, given)).status
  }
  for (let i = 0; i < 5; i++) t.equal(await signIn(`10.0.0.${i}, 203.0.113.9`, 'guessed'), 401)
  t.equal(await signIn('198.51.100.7, 203.0.113.9', TOKEN), 429, 'a client can forge the others')
  t.equal(await signIn('203.0.113.9, 198.51.100.7', TOKEN), 303, 'another client of the proxy')
})
