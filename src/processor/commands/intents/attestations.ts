/**
 * A partner's attestations of its user: validation, and the check that they are satisfied.
 *
 * - The gateway makes the same checks (src/requests/intents); internal services do not pass the
 *   gateway.
 */
import { isDateTime } from '../../../base/date_time.js'
import type { ErrorCode } from '../../../base/errors.js'
import type { KycAttestation__Output as Kyc } from '../../../../protos/types/causeway/v1/KycAttestation.js'
import type { SanctionsAttestation__Output as Sanctions } from '../../../../protos/types/causeway/v1/SanctionsAttestation.js'

export interface Attestations {
  readonly kyc_attestation: Kyc | null
  readonly sanctions_attestation: Sanctions | null
}

const COUNTRY = /^[A-Za-z]{2,3}$/

/** Whether each attestation present is valid. A missing one is not malformed but unsatisfied. */
export const areWellFormed = ({
  kyc_attestation: kyc,
  sanctions_attestation: sanctions,
}: Attestations): boolean =>
  (!kyc || isWellFormedKyc(kyc)) && (!sanctions || isDateTime(sanctions.screened_at))

const isWellFormedKyc = ({ method, verified_at, id_country }: Kyc): boolean =>
  method !== '' && isDateTime(verified_at) && (id_country === undefined || COUNTRY.test(id_country))

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
