/** Without the tools of the packet filter the program goes on in this network, and says why. */
import t from 'tap'
import { enterNamespaces } from './packet_filter.js'

t.test('missing tools are named before a namespace is entered', async (t) => {
  const entered = await enterNamespaces(t.testdir({}))
  t.match(entered, {
    isIsolated: false,
    why:
      process.getuid?.() === 0
        ? /^missing: unshare, mount, setpriv.* \(apt-get install /
        : 'this needs root',
  })
})
