/**
 * What a partner attests of its user, as internal services send it: the checks that the gateway
 * makes of a body (gateway/schemas/intents), and what must have been attested.
 */
import { parseDateTime } from '../../../base/date_time.js'
import type { ErrorCode } from '../../../base/errors.js'
import type { KycAttestation__Output as Kyc } from '../../../../protos/types/causeway/v1/KycAttestation.js'
import type { SanctionsAttestation__Output as Sanctions } from '../../../../protos/types/causeway/v1/SanctionsAttestation.js'

export interface Attestations {
  readonly kyc_attestation: Kyc | null
  readonly sanctions_attestation: Sanctions | null
}

const COUNTRY = /^[A-Za-z]{2,3}$/

/** Each attestation that is there has its form. One that is missing is merely not satisfied. */
export const areWellFormed = ({
  kyc_attestation: kyc,
  sanctions_attestation: sanctions,
}: Attestations): boolean =>
  (!kyc || isWellFormedKyc(kyc)) && (!sanctions || isMoment(sanctions.screened_at))

const isWellFormedKyc = ({ method, verified_at, id_country }: Kyc): boolean =>
  method !== '' && isMoment(verified_at) && (id_country === undefined || COUNTRY.test(id_country))

const isMoment = (text: string): boolean => parseDateTime(text) !== undefined

/** Why the user may not pay; null: all is attested that must be. */
export function refusalOf({
  kyc_attestation: kyc,
  sanctions_attestation: sanctions,
}: Attestations): ErrorCode | null {
  const isSatisfied = kyc?.verified === true && sanctions?.clean === true
  return isSatisfied ? null : 'attestation_not_satisfied'
}

/** As they are kept: one string in place of a dozen objects, for each intent that is warm. */
export const attestationsOf = ({ kyc_attestation, sanctions_attestation }: Attestations): string =>
  JSON.stringify([kyc_attestation, sanctions_attestation])
