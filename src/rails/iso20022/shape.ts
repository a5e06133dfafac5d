/**
 * The shape of a message: its elements, their order, number, types and bounds, as data.
 *
 * Owns: what a shape is, and the type of the value that has it. Does not own: the messages
 * (messages), writing and reading values (shape_writer, shape_reader).
 *
 * - A value is an object whose members are the names of the elements; a repeated element is a list.
 * - Elements of the standard that we do not describe are skipped when they come where a group has
 *   them: a network's own rules add some. Those that we describe are checked.
 */
export interface TextShape {
  readonly kind: 'text'
  readonly max: number
  /** Matches the whole text. */
  readonly pattern: RegExp
}

/** Decimal in major units with as many digits as its currency has; the attribute `Ccy`. */
export interface AmountShape {
  readonly kind: 'amount'
}

export interface GroupShape<Of extends Parts = Parts> {
  readonly kind: 'group'
  readonly parts: Of
}

/** Exactly one of its parts; none of them: one that we do not describe. */
export interface ChoiceShape<Of extends Parts = Parts> {
  readonly kind: 'choice'
  readonly parts: Of
}

// An interface of its own ends the recursion of the types.
export interface Parts {
  readonly [name: string]: Part
}
export type Shape = TextShape | AmountShape | GroupShape | ChoiceShape

export interface Part<Of extends Shape = Shape, Number extends Cardinality = Cardinality> {
  readonly shape: Of
  readonly number: Number
}

/** As XML Schema has it: once, at most once, at least once, any number. */
export type Cardinality = '1' | '0..1' | '1..n' | '0..n'

export interface Amount {
  /** Minor units. */
  readonly minor: bigint
  readonly currency: string
}

export type ValueOf<S extends Shape> = S extends TextShape
  ? string
  : S extends AmountShape
    ? Amount
    : S extends GroupShape<infer Of>
      ? GroupValue<Of>
      : S extends ChoiceShape<infer Of>
        ? { readonly [Name in keyof Of]?: ValueOf<Of[Name]['shape']> }
        : never

type PartValue<P extends Part> = P['number'] extends '1' | '0..1'
  ? ValueOf<P['shape']>
  : readonly ValueOf<P['shape']>[]

type GroupValue<Of extends Parts> = {
  readonly [Name in keyof Of as Of[Name]['number'] extends '0..1' ? never : Name]: PartValue<
    Of[Name]
  >
} & {
  readonly [Name in keyof Of as Of[Name]['number'] extends '0..1' ? Name : never]?: PartValue<
    Of[Name]
  >
}

export const group = <Of extends Parts>(parts: Of): GroupShape<Of> => ({ kind: 'group', parts })
export const choice = <Of extends Parts>(parts: Of): ChoiceShape<Of> => ({ kind: 'choice', parts })
export const amount: AmountShape = { kind: 'amount' }
export const text = (max: number, pattern = /^.*\S.*$/su): TextShape => ({
  kind: 'text',
  max,
  pattern,
})
export const oneOf = (...codes: readonly string[]): TextShape =>
  text(35, new RegExp(`^(?:${codes.join('|')})$`))

export const one = <S extends Shape>(shape: S): Part<S, '1'> => ({ shape, number: '1' })
export const maybe = <S extends Shape>(shape: S): Part<S, '0..1'> => ({ shape, number: '0..1' })
export const some = <S extends Shape>(shape: S): Part<S, '1..n'> => ({ shape, number: '1..n' })
export const any = <S extends Shape>(shape: S): Part<S, '0..n'> => ({ shape, number: '0..n' })

export const isRepeated = (number: Cardinality): boolean => number.endsWith('n')
export const isRequired = (number: Cardinality): boolean => number.startsWith('1')
