/** A usage error of an operator: its message says what to do instead. */
export class CommandFault extends Error {
  override name = 'CommandFault'
}
