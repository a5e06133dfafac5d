/**
 * Callers of our gRPC ports: their kinds, their roles, and the authenticated caller of a call.
 *
 * Does not own: their credentials (auth/callers), what a role may call (auth/rpc_access).
 */
import type { Metadata } from '@grpc/grpc-js'

export const OPERATOR_ROLES = ['read', 'operate', 'decide'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/**
 * `service` is an internal service, `webhooks` a webhook pool. The processor is a caller of the
 * rail. The console is none by itself: it calls as the operator whose certificate it shows.
 */
export const CALLER_KINDS = [
  ...(['operator', 'service', 'gateway', 'webhooks', 'supervisor', 'processor'] as const),
  ...(['console'] as const),
] as const
export type CallerKind = (typeof CALLER_KINDS)[number]

export interface Caller {
  /** As in the action log. */
  readonly name: string
  readonly kind: CallerKind
  /** The roles of an operator. Other kinds have none. */
  readonly roles: readonly OperatorRole[]
  /** The partners that an internal service may act for. Null means all. */
  readonly partners: readonly string[] | null
}

/** An operator has the roles given to it, a console none; every other kind is a role of its own. */
export type Role = OperatorRole | Exclude<CallerKind, 'operator' | 'console'>

export function rolesOf({ kind, roles }: Caller): readonly Role[] {
  if (kind === 'console') return []
  return kind === 'operator' ? roles : [kind]
}

const CALLER_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

export const CALLER_NAME_RULE =
  '1 to 64 letters, digits, dots, hyphens, underscores and @, and begin with a letter or digit'

export const isCallerName = (text: string): boolean => CALLER_NAME.test(text)

/** By the metadata object of the call, which its handler receives too. */
const authenticated = new WeakMap<Metadata, Caller>()

export const setCaller = (metadata: Metadata, caller: Caller): void =>
  void authenticated.set(metadata, caller)

/** Undefined means that the call is not authenticated. */
export const callerOf = (metadata: Metadata): Caller | undefined => authenticated.get(metadata)
