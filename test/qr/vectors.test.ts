/** Every collected payload (vectors.json) gives its expected reading or reason. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { CORRIDORS, type Corridor } from '../../src/qr/corridor.js'
import { readQr } from '../../src/qr/read.js'

interface Decode {
  readonly scheme: string
  readonly qr_kind: string
  readonly destination: {
    readonly type: string
    readonly bin?: string
    readonly value: string
    readonly ref1?: string
    readonly ref2?: string
    readonly masked: string
  }
  readonly currency: string
  readonly amount_minor: string | null
  readonly country: string
  readonly mcc: string
  readonly name: string
  readonly city: string
  readonly additional?: Readonly<Record<string, string>>
}

interface Vector {
  readonly id: string
  readonly corridor: Corridor
  readonly payload: string
  readonly expect:
    | { readonly accept: true; readonly decode: Decode }
    | { readonly accept: false; readonly reason: string }
}

const { vectors } = JSON.parse(
  readFileSync(join(projectRoot(), 'test/qr/vectors.json'), 'utf8'),
) as { vectors: Vector[] }

t.equal(vectors.length, 113, 'the collection is complete')

for (const { id, corridor, payload, expect } of vectors) {
  t.test(id, async (t) => {
    const outcome = readQr(payload, corridor)
    if (!expect.accept) {
      t.same(outcome, { ok: false, reason: expect.reason })
      return
    }
    if (!outcome.ok) {
      t.fail(outcome.reason)
      return
    }
    const { merchant, kind, destination, destinationMasked, embeddedAmountMinor } = outcome.reading
    const { decode } = expect
    t.same(merchant, {
      scheme: decode.scheme,
      name: decode.name,
      city: decode.city,
      country: decode.country,
      mcc: decode.mcc,
    })
    t.equal(kind, decode.qr_kind)
    t.equal(destination.scheme, decode.scheme)
    t.equal(destination.accountType, decode.destination.type)
    t.equal(
      destination.bankCode + destination.account,
      (decode.destination.bin ?? '') + decode.destination.value,
    )
    t.match(decode.destination.value, new RegExp(`${destination.account}$`))
    const references = referencesOf(decode)
    t.equal(destination.reference1, references[0])
    t.equal(destination.reference2, references[1])
    t.equal(destinationMasked, decode.destination.masked)
    t.equal(embeddedAmountMinor?.toString() ?? null, decode.amount_minor)
    t.equal(CORRIDORS[corridor].currencyNumeric, decode.currency)
  })
}

/** PromptPay has two references; those of VietQR are the bill number or label, and the purpose. */
function referencesOf({ scheme, destination, additional = {} }: Decode): [string, string] {
  if (scheme === 'promptpay') return [destination.ref1 ?? '', destination.ref2 ?? '']
  return [additional['01'] ?? additional['05'] ?? '', additional['08'] ?? '']
}
