/**
 * A partner's attestations of its user: the check that they are satisfied, and their stored form.
 *
 * Does not own: their members (src/api/intent_messages).
 */
import type { ErrorCode } from '../../../base/errors.js'
import type { KycAttestation__Output as Kyc } from '../../../../protos/types/causeway/v1/KycAttestation.js'
import type { SanctionsAttestation__Output as Sanctions } from '../../../../protos/types/causeway/v1/SanctionsAttestation.js'

export interface Attestations {
  readonly kyc_attestation: Kyc | null
  readonly sanctions_attestation: Sanctions | null
}

/** The refusal for unsatisfied attestations; null when they are satisfied. */
export function refusalOf({
  kyc_attestation: kyc,
  sanctions_attestation: sanctions,
}: Attestations): ErrorCode | null {
  const isSatisfied = kyc?.verified === true && sanctions?.clean === true
  return isSatisfied ? null : 'attestation_not_satisfied'
}

/** The stored form: one string instead of a dozen objects for each intent in memory. */
export const attestationsOf = ({ kyc_attestation, sanctions_attestation }: Attestations): string =>
  JSON.stringify([kyc_attestation, sanctions_attestation])
