/**
 * The operators' service as functions.
 *
 * Owns: the connection and the deadline. Does not own: what the calls do (the processor's operator
 * service).
 */
import { credentials, status, type Metadata, type ServiceError } from '@grpc/grpc-js'
import type { CreatePartnerRequest } from '../../protos/types/causeway/v1/CreatePartnerRequest.js'
import type { DepositDone__Output } from '../../protos/types/causeway/v1/DepositDone.js'
import type { DepositRequest } from '../../protos/types/causeway/v1/DepositRequest.js'
import type { Done__Output } from '../../protos/types/causeway/v1/Done.js'
import type { IssueKeyRequest } from '../../protos/types/causeway/v1/IssueKeyRequest.js'
import type { KeyIssued__Output } from '../../protos/types/causeway/v1/KeyIssued.js'
import type { PartnerCreated__Output } from '../../protos/types/causeway/v1/PartnerCreated.js'
import type { SetRateRequest } from '../../protos/types/causeway/v1/SetRateRequest.js'
import type { TrialBalanceReport__Output } from '../../protos/types/causeway/v1/TrialBalanceReport.js'
import type { TrialBalanceRequest } from '../../protos/types/causeway/v1/TrialBalanceRequest.js'
import type { ProtoGrpcType } from '../../protos/types/operator.js'
import { SECOND, type Clock } from '../base/clock.js'
import { bearer } from '../base/internal_token.js'
import { contracts } from '../base/protos.js'
import type { Sandbox } from './sandbox.js'

const ANSWER_WITHIN_MS = 10 * SECOND

export interface OperatorClient {
  createPartner(request: CreatePartnerRequest): Promise<PartnerCreated__Output>
  issueKey(request: IssueKeyRequest): Promise<KeyIssued__Output>
  deposit(request: DepositRequest): Promise<DepositDone__Output>
  setRate(request: SetRateRequest): Promise<Done__Output>
  trialBalance(request: TrialBalanceRequest): Promise<TrialBalanceReport__Output>
  close(): void
}

type Unary<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null, response?: Response) => void,
) => unknown

export function connectOperator(sandbox: Sandbox, clock: Clock): OperatorClient {
  const { Operator } = contracts<ProtoGrpcType>().causeway.v1
  const service = new Operator(sandbox.grpc_address, credentials.createInsecure())
  const metadata = bearer(sandbox.internal_token)

  const promised =
    <Request, Response>(call: Unary<Request, Response>) =>
    (request: Request): Promise<Response> =>
      new Promise((resolve, reject) => {
        const deadline = clock.now() + ANSWER_WITHIN_MS
        call.call(service, request, metadata, { deadline }, (error, response) => {
          if (response !== undefined) resolve(response)
          else reject(faultOf(error, sandbox))
        })
      })

  return {
    createPartner: promised<CreatePartnerRequest, PartnerCreated__Output>(service.CreatePartner),
    issueKey: promised<IssueKeyRequest, KeyIssued__Output>(service.IssueKey),
    deposit: promised<DepositRequest, DepositDone__Output>(service.Deposit),
    setRate: promised<SetRateRequest, Done__Output>(service.SetRate),
    trialBalance: promised<TrialBalanceRequest, TrialBalanceReport__Output>(service.TrialBalance),
    close: () => service.close(),
  }
}

function faultOf(error: ServiceError | null, { grpc_address }: Sandbox): Error {
  if (error?.code === status.UNAVAILABLE) {
    return new Error(`Nothing answers at ${grpc_address}: is the stack running? (make run)`)
  }
  return new Error(error?.details ?? 'no answer')
}
