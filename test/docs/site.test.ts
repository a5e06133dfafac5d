/** The files of /docs: hosts, headers, links between pages, signatures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import ts from 'typescript'
import { guidePages, readGuide } from '../../gateway/docs/guide.js'
import { createDocs } from '../../gateway/docs/site.js'
import { staticFile } from '../../gateway/http/static_file.js'
import { projectRoot } from '../../src/base/project_root.js'
import { eventually } from '../support/eventually.js'
import { partnerGuideFiles, wholePartnerGuide } from '../support/partner_guide.js'
import { SIGNATURE_VECTORS, type SignatureVector } from '../support/signature_vectors.js'
import { heldClock } from '../gateway/held_clock.js'
import { openClient } from '../gateway/open_client.js'
import { startGateway } from '../gateway/running_gateway.js'
import { bytesOf, get, roundTrip, statusOf, type HttpCall } from '../gateway/signing_partner.js'

const ASSETS = join(projectRoot(), 'gateway/docs/assets')
const DOCS = createDocs('Service')
const HOSTS = { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: 'api.example' }
const MORE_THAN_THE_KERNEL_BUFFERS = 32 * 1024 * 1024
const unsigned = (path: string, method = 'GET'): HttpCall => ({ method, path, unsigned: true })
const largest = [...DOCS].find(([path]) => path.endsWith('swagger-ui-bundle.js'))

const headOf = (text: string): string => text.slice(0, text.indexOf('\r\n\r\n'))
const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

t.test('sandbox hosts', async (t) => {
  const { port } = await startGateway(t, { environment: HOSTS, docs: DOCS })
  const send = (call: HttpCall): Promise<{ text: string }> =>
    roundTrip(port, bytesOf(call, 'sandbox.example'))

  await t.test('serve every file whole', async (t) => {
    for (const [path, { plain }] of DOCS) {
      const { content } = plain
      const { text } = await send(unsigned(path))
      t.equal(statusOf(text), 200, path)
      t.ok(content.equals(Buffer.from(bodyOf(text), 'latin1')), path)
      const head = await send(unsigned(path, 'HEAD'))
      t.match(headOf(head.text), `Content-Length: ${content.length}`)
      t.equal(bodyOf(head.text), '')
    }
  })

  await t.test('let a page load only its own origin', async (t) => {
    const { text } = await send(unsigned('/docs'))
    const policy = /^Content-Security-Policy: (.*)\r$/m.exec(headOf(text))?.[1]?.split('; ')
    t.match(policy, ["default-src 'self'", "img-src 'self' data:"])
    t.notMatch(policy?.join(), 'unsafe')
    t.match(headOf(text), /^Cache-Control: max-age=60\r$/m)
    t.match(headOf(text), /^X-Request-Id: req_/m)
    t.notMatch(bodyOf(text), /<script(?![^>]* src="\/docs\/)|<style| style=| on[a-z]+="/)
  })

  await t.test('reject other paths and methods', async (t) => {
    const [assets = ''] = [...DOCS.keys()]
    const version = assets.slice(0, assets.lastIndexOf('/'))
    for (const path of [
      ...['/docs/', '/docs/x', '/docs/guide', '/docs/assets', version, `${version}/`],
      ...[`${version}/../layout.ts`, `${version}/%2e%2e/layout.ts`, `${version}/..%2flayout.ts`],
      ...['/docs/../package.json', '/docs/assets/0/docs.css', '/docs/guide/units%00', '//docs'],
    ]) {
      t.equal(statusOf((await send(unsigned(path))).text), 404, path)
    }
    const { text } = await send(unsigned('/docs', 'POST'))
    t.equal(statusOf(text), 405)
    t.match(headOf(text), 'Allow: GET, HEAD')
  })
})

t.test('production hosts answer like any unknown path', async (t) => {
  const { port } = await startGateway(t, { environment: HOSTS, docs: DOCS })
  const answerTo = async (call: HttpCall): Promise<string> => {
    const { text } = await roundTrip(port, bytesOf(call, 'api.example'))
    return text.replace(/req_[0-9A-Z]{26}/g, 'req').replace(/^Date: .*$/m, '')
  }
  for (const method of ['GET', 'HEAD', 'POST']) {
    const unknown = await answerTo(unsigned('/nowhere', method))
    t.match(unknown, /^HTTP\/1.1 404 /)
    for (const path of DOCS.keys()) {
      t.equal(await answerTo(unsigned(path, method)), unknown, `${method} ${path}`)
    }
  }
  t.equal(await answerTo(get('/docs')), await answerTo(get('/nowhere')), 'signed')
})

t.test('requests for the documentation count against the rate limit of an address', async (t) => {
  const environment = { RATE_LIMIT_PER_ADDRESS: '2' }
  const { port } = await startGateway(t, { environment, docs: DOCS, clock: heldClock() })
  const send = () => fetch(`http://127.0.0.1:${port}/docs`)
  t.same([(await send()).status, (await send()).status], [200, 200])
  t.equal((await send()).status, 429)
})

t.test('a slow client gets all of a large file', async (t) => {
  const content = Buffer.alloc(MORE_THAN_THE_KERNEL_BUFFERS, 'x')
  const { port } = await startGateway(t, { docs: new Map([['/docs', staticFile(content, [])]]) })
  const { socket } = openClient(t, port, bytesOf(unsigned('/docs')))
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
    socket.pause()
    setImmediate(() => socket.resume())
  })
  await eventually('the whole file', () => received > content.length)
})

t.test('every section of the guide is on one page, and every link has a target', async (t) => {
  const pages = readGuide('Service')
  const whole = pages.map(({ html }) => html).join('')
  const guide = pages.flatMap(({ group, html }) => (group === 'Guide' ? [html] : [])).join('')
  for (const [, title = ''] of wholePartnerGuide().matchAll(/^##+ (.+)$/gm)) {
    const anchor = title
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-')
    t.equal(guide.split(` id="${anchor}"`).length, 2, title)
  }
  const links = [...whole.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href)
  t.ok(links.length > 30)
  for (const href of links) {
    if (href.startsWith('https://')) continue
    const [path = '', anchor = ''] = href.split('#')
    const target = path === '' ? whole : pages.find((page) => page.path === path)?.html
    t.ok(target?.includes(` id="${anchor}"`) || pages.some((one) => one.path === href), href)
  }
  t.notMatch(whole, '<!--')
  t.match(whole, /<pre><code class="language-js">/)
})

t.test('every file of the guide is a page with its title', async (t) => {
  const read: string[] = []
  const pages = guidePages((file) => {
    read.push(file)
    return `# The title of ${file}`
  })
  t.same(read.filter((file) => file.startsWith('gateway/')).sort(), partnerGuideFiles())
  for (const { group, path, title } of pages) {
    if (group === 'Guide') t.match(title, path.replace('/docs/', ''))
  }
})

t.test('HTML in the guide is escaped', async (t) => {
  const pages = guidePages(() => '<script>alert(1)</script>\n\n[x](javascript:alert(2))\n')
  const html = pages.map((page) => page.html).join('')
  t.match(html, '&lt;script&gt;alert(1)')
  t.notMatch(html, '<script')
  t.notMatch(html, 'javascript:')
})

t.test('the brand is in the header names', async (t) => {
  const pages = readGuide('Acme')
  const html = pages.map((page) => page.html).join('')
  t.match(html, 'X-Acme-Signature')
  t.notMatch(html, /x-service-/i)
})

type Sign = (secret: string, request: Omit<SignatureVector, 'name' | 'secret'>) => Promise<string>

t.test('the page signs the test vectors correctly', async (t) => {
  const module = (await import(join(ASSETS, 'signature.js'))) as { signatureOf: Sign }
  t.ok(SIGNATURE_VECTORS.length > 5)
  for (const { name, secret, ...request } of SIGNATURE_VECTORS) {
    t.equal(await module.signatureOf(secret, request), request.signature, name)
  }
})

t.test('the scripts of the pages type-check', async (t) => {
  const program = ts.createProgram([join(ASSETS, 'reference.js')], {
    ...{ allowJs: true, checkJs: true, noEmit: true, strict: true, types: [] },
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  })
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  t.same(faults, [])
})

t.test('files are compressed for clients that accept it', async (t) => {
  const [path = '', file] = largest ?? []
  const own = readFileSync(join(projectRoot(), 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'))
  const { port } = await startGateway(t, { docs: DOCS })
  const read = async (headers: Record<string, string>): Promise<string> =>
    (await roundTrip(port, bytesOf({ ...unsigned(path), headers }))).text
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', 'identity;q=0, gzip ; q=1.0']) {
    const text = await read({ 'Accept-Encoding': accepted })
    t.match(headOf(text), /^Content-Encoding: gzip\r$/m, accepted)
    t.match(headOf(text), /^Vary: Accept-Encoding\r$/m, accepted)
    t.match(headOf(text), /^Cache-Control: .*immutable\r$/m, accepted)
    t.ok(gunzipSync(Buffer.from(bodyOf(text), 'latin1')).equals(own), accepted)
  }
  for (const accepted of ['', 'br', 'gzip;q=0', 'gzip; q=0.00', 'xgzip']) {
    const text = await read({ 'Accept-Encoding': accepted })
    t.notMatch(headOf(text), /^Content-Encoding/m, accepted)
    t.match(headOf(text), /^Vary: Accept-Encoding\r$/m, accepted)
    t.ok(Buffer.from(bodyOf(text), 'latin1').equals(own), accepted)
  }
  const small = [...DOCS.values()].filter(({ plain }) => plain.content.length < 1_000)
  t.ok(small.length > 0)
  for (const { gzip } of small) t.equal(gzip, undefined)
  for (const { plain, gzip } of DOCS.values()) t.not(plain.etag, gzip?.etag)
  t.ok((file?.gzip?.content.length ?? 0) < own.length / 3)
})

t.test('a client that has a file gets no second copy', async (t) => {
  const [path = '', file] = largest ?? []
  const { port } = await startGateway(t, { docs: DOCS })
  const read = async (headers: Record<string, string>, method = 'GET'): Promise<string> =>
    (await roundTrip(port, bytesOf({ ...unsigned(path, method), headers }))).text
  const gzipped = { 'Accept-Encoding': 'gzip' }
  const tag = /^ETag: (.*)\r$/m.exec(headOf(await read(gzipped)))?.[1] ?? ''
  t.equal(tag, file?.gzip?.etag)
  for (const names of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const text = await read({ ...gzipped, 'If-None-Match': names }, method)
      t.equal(statusOf(text), 304, `${method} ${names}`)
      t.match(headOf(text), `ETag: ${tag}`)
      t.equal(bodyOf(text), '')
    }
  }
  for (const names of ['"other"', tag.slice(1, -1), '']) {
    t.equal(statusOf(await read({ ...gzipped, 'If-None-Match': names })), 200, names)
  }
  t.equal(statusOf(await read({ 'If-None-Match': tag })), 200, 'the tag of the other form')
})
