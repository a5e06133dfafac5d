/** The console behind a proxy on its machine, which ends the TLS of browsers. */
import t from 'tap'
import { OPERATOR_ROLES } from '../../src/auth/caller.js'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld } from '../support/world.js'
import { serveConsole } from './served_console.js'
import { requestPage } from './stack.js'

const TOKEN = 'op_of_these_tests_only_0123456789'
const ANN = configuredCaller(callerEntry('operator', 'ann', TOKEN))

t.test('a browser that speaks TLS sends the cookie over TLS only', async (t) => {
  const world = await createWorld(t)
  const caller = { ...ANN, caller: { ...ANN.caller, roles: OPERATOR_ROLES } }
  const callers = createCallers([caller], world.clock)
  const { address } = await serveShard(t, {
    ...{ world, shard: 'books_1', shards: ['books_1'], callers },
  })
  const url = await serveConsole(t, { processors: [address], clock: world.clock })
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
