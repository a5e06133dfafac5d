/** Hostile XML: every bound holds before memory or time is spent. */
import t from 'tap'
import { MESSAGE_BOUNDS, readMessage, writeMessage } from '../../../src/rails/iso20022/codec.js'
import { MessageFault, readXml } from '../../../src/rails/iso20022/xml.js'
import { SAMPLES } from './samples.js'

const read = (text: string | Buffer): unknown => readXml(Buffer.from(text), MESSAGE_BOUNDS)
const BOMB = `<!DOCTYPE m [<!ENTITY a "ha">${Array.from(
  { length: 9 },
  (_, n) => `<!ENTITY ${'abcdefghij'[n + 1]} "${`&${'abcdefghij'[n]};`.repeat(10)}">`,
).join('')}]><m>&j;</m>`

const HOSTILE: Readonly<Record<string, string | Buffer>> = {
  'billion laughs': BOMB,
  'external entity': '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><m>&x;</m>',
  'entity that is not declared': '<m>&x;</m>',
  'lone ampersand': '<m>a & b</m>',
  'reference to no character': '<m>&#0;</m>',
  'reference to a surrogate': '<m>&#xD800;</m>',
  'deep nesting': `${'<m>'.repeat(400)}${'</m>'.repeat(400)}`,
  'nesting beyond the bound': `${'<m>'.repeat(33)}${'</m>'.repeat(33)}`,
  'ten megabytes': `<m>${'a'.repeat(10_000_000)}</m>`,
  'many elements': `<m>${'<a/>'.repeat(3_000)}</m>`,
  'many attributes': `<m ${Array.from({ length: 60 }, (_, n) => `a${n}="1"`).join(' ')}/>`,
  'attributes without end': `<m ${'a="1" '.repeat(9_000)}/>`,
  'repeated attribute': '<m a="1" a="2"/>',
  'attribute without a value': '<m a/>',
  'long tag': `<${'m'.repeat(2_000)}/>`,
  comment: '<m><!-- a --></m>',
  'CDATA section': '<m><![CDATA[a]]></m>',
  'processing instruction': '<m><?php 1 ?></m>',
  'second declaration': '<?xml version="1.0"?><?xml version="1.0"?><m/>',
  'declaration of another encoding': '<?xml version="1.0" encoding="UTF-16"?><m/>',
  'UTF-16': Buffer.from('\ufeff<m/>', 'utf16le'),
  'UTF-16 without a mark': Buffer.from('<m/>', 'utf16le'),
  'bytes that are not UTF-8': Buffer.from([0x3c, 0x6d, 0x3e, 0xff, 0x3c, 0x2f, 0x6d, 0x3e]),
  'control character': '<m>\u0001</m>',
  'text beside elements': '<m>a<b/></m>',
  'text after the root': '<m/>a',
  'two roots': '<m/><m/>',
  'no root': '',
  'text only': 'hello',
  'open element': '<m><a></m>',
  'wrong end': '<m></n>',
  'name of a member of objects': '<__proto__/>x',
}

for (const [name, text] of Object.entries(HOSTILE)) {
  t.test(`refused: ${name}`, async (t) => {
    t.throws(() => read(text), MessageFault)
  })
}

t.test('names of members of objects are names like others', async (t) => {
  const valid = writeMessage(SAMPLES['pacs.002.001.11']).toString()
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    const hostile = valid.replace('<TxSts>', `<${name}>x</${name}><TxSts>`)
    t.throws(() => readMessage(Buffer.from(hostile), MESSAGE_BOUNDS), MessageFault, name)
  }
  t.equal(({} as { x?: unknown }).x, undefined)
})

t.test('a mark of UTF-8, references and blanks are read', async (t) => {
  const head = '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n'
  t.same(read(`${head}<m a="&quot;">\n<b>&amp;&#xE9;&#233;</b>\n</m>\n`), {
    ...{ name: 'm', attributes: { a: '"' }, text: '' },
    children: [{ name: 'b', attributes: {}, children: [], text: '&éé' }],
  })
})

t.test('a declaration with single quotes is read', async (t) => {
  const root = { name: 'm', attributes: {}, children: [], text: '' }
  for (const head of ["version='1.0'", "version='1.0' encoding='utf-8' standalone='no'"]) {
    t.same(read(`<?xml ${head}?>\n<m/>`), root)
  }
  t.throws(() => read(`<?xml version="1.0'?><m/>`), MessageFault)
})
