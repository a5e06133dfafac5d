/**
 * Properties of all payloads: valid ones are read as written, damaged ones never give another
 * payee, and any text is read in linear time.
 */
import fc from 'fast-check'
import t from 'tap'
import { CORRIDOR_NAMES, type Corridor } from '../../src/qr/corridor.js'
import { readQr } from '../../src/qr/read.js'
import { wireCodeOf } from '../../src/qr/reasons.js'
import { charactersTouched } from './effort.js'
import {
  BILL_PAYMENT,
  CREDIT_TRANSFER,
  fields,
  payload,
  sealed,
  thai,
  vietnamese,
  VIETQR,
  type Field,
} from './payloads.js'
import { digits } from './reading.js'

const printable = (max: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[ -~]{1,${max}}$`))
const display = fc
  .array(
    fc.constantFrom('A', 'b', ' ', 'ก', 'า', '\u0e48', 'é', 'e\u0301', '最', '😀', '6', '3', '0'),
    {
      minLength: 1,
      maxLength: 25,
    },
  )
  .map((characters) => `x${characters.join('')}`)
const shuffled = (list: readonly Field[]): fc.Arbitrary<Field[]> =>
  fc.shuffledSubarray([...list], { minLength: list.length })

/** A payee as the issuer writes it and as the reader must return it. */
interface Payee {
  readonly corridor: Corridor
  readonly tag: string
  readonly template: readonly Field[]
  readonly additional: readonly Field[]
  readonly destination: Readonly<Record<string, string>>
}

const proxied = fc
  .oneof(
    fc.tuple(
      fc.constant('01'),
      fc.constant('mobile'),
      digits(9).map((tail) => `0066${tail}`),
    ),
    fc.tuple(fc.constant('02'), fc.constant('national_id'), digits(13)),
    fc.tuple(fc.constant('03'), fc.constant('ewallet'), digits(15)),
    fc.tuple(fc.constant('04'), fc.constant('bank_account'), digits(4, 43)),
  )
  .map(([tag, accountType, value]): Payee => {
    const cut = tag === '04' ? 3 : 0
    return {
      corridor: 'th_promptpay',
      tag: '29',
      template: [
        ['00', CREDIT_TRANSFER],
        [tag, value],
      ],
      additional: [],
      destination: {
        scheme: 'promptpay',
        accountType,
        bankCode: value.slice(0, cut),
        account: value.slice(cut),
        reference1: '',
        reference2: '',
      },
    }
  })

const billed = fc
  .tuple(digits(15), printable(20), fc.option(printable(20), { nil: '' }))
  .map(([biller, reference1, reference2]): Payee => ({
    corridor: 'th_promptpay',
    tag: '30',
    template: [
      ['00', BILL_PAYMENT],
      ['01', biller],
      ['02', reference1],
      ...(reference2 === '' ? [] : [['03', reference2] as const]),
    ],
    additional: [],
    destination: {
      scheme: 'promptpay',
      accountType: 'biller',
      bankCode: '',
      account: biller,
      reference1,
      reference2,
    },
  }))

const ACCOUNT_TYPES = new Map([
  ['QRIBFTTA', 'account'],
  ['QRIBFTTC', 'card'],
])

const vietnameseAccount = fc
  .tuple(
    digits(6),
    fc.oneof(
      fc.tuple(fc.constantFrom('', 'QRPUSH', 'QRIBFTTA'), fc.stringMatching(/^[0-9A-Za-z]{1,19}$/)),
      fc.tuple(fc.constant('QRIBFTTC'), digits(16, 19)),
    ),
    fc.option(display, { nil: '' }),
    fc.option(display, { nil: '' }),
  )
  .map(([bankCode, [service, account], reference1, reference2]): Payee => ({
    corridor: 'vn_vietqr',
    tag: '38',
    template: [
      ['00', VIETQR],
      ['01', fields(['00', bankCode], ['01', account])],
      ...(service === '' ? [] : [['02', service] as const]),
    ],
    additional: [
      ...(reference1 === '' ? [] : [['01', reference1] as const]),
      ...(reference2 === '' ? [] : [['08', reference2] as const]),
    ],
    destination: {
      scheme: 'vietqr',
      accountType: ACCOUNT_TYPES.get(service) ?? 'merchant',
      bankCode,
      account,
      reference1,
      reference2,
    },
  }))

interface Written {
  readonly payee: Payee
  readonly text: string
  readonly minor: bigint | null
  readonly name: string
}

const written: fc.Arbitrary<Written> = fc
  .tuple(
    fc.oneof(proxied, billed, vietnameseAccount),
    fc.option(fc.bigInt({ min: 1n, max: 999_999_999_999n }), { nil: null }),
    fc.option(display, { nil: '' }),
  )
  .chain(([payee, minor, name]) => {
    const isThai = payee.corridor === 'th_promptpay'
    return shuffled(payee.template).chain((template) =>
      shuffled([
        ['01', minor === null ? '11' : '12'],
        [payee.tag, fields(...template)],
        ['53', isThai ? '764' : '704'],
        ['58', isThai ? 'TH' : 'VN'],
        ...(minor === null ? [] : [['54', amountText(minor, isThai)] as const]),
        ...(name === '' ? [] : [['59', name] as const]),
        ...(payee.additional.length === 0 ? [] : [['62', fields(...payee.additional)] as const]),
      ]).map((root) => ({ payee, text: payload(['00', '01'], ...root), minor, name })),
    )
  })

function amountText(minor: bigint, isThai: boolean): string {
  if (!isThai) return minor.toString()
  const text = minor.toString().padStart(3, '0')
  return `${text.slice(0, -2)}.${text.slice(-2)}`
}

t.test('a valid code is read as written, in any order of objects', async () => {
  fc.assert(
    fc.property(written, ({ payee, text, minor, name }) => {
      const outcome = readQr(text, payee.corridor)
      if (!outcome.ok) throw new Error(outcome.reason)
      const { reading } = outcome
      const same = Object.entries(payee.destination).every(
        ([member, value]) => Reflect.get(reading.destination, member) === value,
      )
      return same && reading.embeddedAmountMinor === minor && reading.merchant.name === name
    }),
    { numRuns: 500 },
  )
})

/** The parts of a reading that determine the payment. */
const moneyOf = (text: string, corridor: Corridor): string | undefined => {
  const outcome = readQr(text, corridor)
  if (!outcome.ok) return undefined
  const { destination, embeddedAmountMinor } = outcome.reading
  return JSON.stringify([destination, String(embeddedAmountMinor)])
}

t.test('no single wrong character changes the payee', async (t) => {
  const samples: readonly (readonly [Corridor, string])[] = [
    ['th_promptpay', thai(['01', '12'], ['54', '100.00'], ['59', 'SHOP'])],
    ['vn_vietqr', vietnamese(['01', '12'], ['54', '50000'], ['62', fields(['08', 'tien le'])])],
  ]
  const characters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(0x20 + n))
  const wrong = [...characters, '\n', 'ก', '０', '😀']
  for (const [corridor, text] of samples) {
    const right = moneyOf(text, corridor)
    t.ok(right)
    const misled: string[] = []
    for (let at = 0; at < text.length; at++) {
      for (const character of wrong) {
        const money = moneyOf(text.slice(0, at) + character + text.slice(at + 1), corridor)
        if (money !== undefined && money !== right) misled.push(`${at} ${character}`)
      }
    }
    t.same(misled, [], corridor)
  }
})

t.test('no single wrong character changes the payee of a vector', async () => {
  fc.assert(
    fc.property(
      written,
      fc.nat(),
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
      ({ payee: { corridor }, text }, index, character) => {
        const at = index % text.length
        const money = moneyOf(text.slice(0, at) + character + text.slice(at + 1), corridor)
        return money === undefined || money === moneyOf(text, corridor)
      },
    ),
    { numRuns: 1_000 },
  )
})

/** Texts that pass early checks: a valid frame, a correct checksum or objects inside. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 }).map((units) => {
    return String.fromCharCode(...units)
  }),
  fc.stringMatching(/^[0-9]{0,300}$/).map((text) => sealed(`000201${text}`)),
  fc
    .array(fc.tuple(digits(2), fc.oneof(printable(30), digits(1, 30), display)), { maxLength: 12 })
    .map((list) => payload(['00', '01'], ...list)),
  fc.tuple(digits(2), fc.stringMatching(/^[0-9]{1,90}$/)).map((change) => thai(change)),
  fc.stringMatching(/^[0-9]{1,60}$/).map((text) => thai(['29', `0016${CREDIT_TRANSFER}${text}`])),
  fc.stringMatching(/^[0-9]{1,60}$/).map((text) => vietnamese(['38', `0010${VIETQR}${text}`])),
)

t.test('any text gives a result, and a rejection contains none of the text', async () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(...CORRIDOR_NAMES), (text, corridor) => {
      const outcome = readQr(text, corridor)
      if (outcome.ok) return true
      const constant = wireCodeOf(outcome.reason) !== undefined
      return constant && Object.keys(outcome).join() === 'ok,reason'
    }),
    { numRuns: 3_000 },
  )
})

/** Long texts, each the worst case of one step. */
const WORST: Readonly<Record<string, (length: number) => string>> = {
  'one repeated digit': (length) => sealed('0002019'.padEnd(length - 8, '9')),
  'objects of one character': (length) => sealed(`000201${'0101x'.repeat(length / 5 - 4)}`),
  'small objects': (length) => sealed(`000201${manyFields(length, () => 'x')}`),
  'full objects': (length) => sealed(`000201${manyFields(length, () => '9'.repeat(99))}`),
  'templates in templates': (length) => sealed(`000201${manyFields(length, nested)}`),
  'templates of the scheme that break at the end': (length) =>
    sealed(`000201${manyFields(length, () => `0016${CREDIT_TRANSFER}${'9901x'.repeat(15)}`)}`),
  'characters outside the basic plane': (length) =>
    sealed(`000201${manyFields(length, () => '😀'.repeat(99))}`),
  'blanks before a wrong end': (length) => `000201${' '.repeat(length - 7)}x`,
  'repeated checksums': (length) => sealed(`000201${'6304ABCD'.repeat(length / 8 - 2)}`),
}

/** Without 01, which would be rejected before the templates. */
function manyFields(length: number, valueOf: (depth: number) => string): string {
  let text = ''
  for (let tag = 2; Array.from(text).length < length - 120 && tag <= 99; tag++) {
    if (tag !== 63) text += fields([String(tag).padStart(2, '0'), valueOf(0)])
  }
  return text
}

/** Nested objects, as deep as 99 characters allow. */
function nested(depth: number): string {
  return depth === 19 ? 'x' : fields(['00', nested(depth + 1)])
}

t.test('the work is linear in the length of the text', async (t) => {
  for (const [what, write] of Object.entries(WORST)) {
    for (const length of [256, 1_024, 4_096]) {
      const text = write(length)
      t.ok(Array.from(text).length <= length, `${what} passes the length check`)
      for (const corridor of CORRIDOR_NAMES) {
        const effort = charactersTouched(() => readQr(text, corridor))
        t.ok(effort <= 8 * text.length, `${what}: ${effort} for ${text.length}`)
      }
    }
  }
})

t.test('a text above the length limit is not scanned', async (t) => {
  const text = '0002'.repeat(1_000_000)
  t.ok(charactersTouched(() => readQr(text, 'th_promptpay')) < 10)
})
