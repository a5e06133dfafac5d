/**
 * The messages of ISO 20022 that the adapter and the switch exchange: the parts that we use.
 *
 * - From these tables messages are written and checked. The order of the parts is the standard's.
 * - A message of another version than these is refused: its parts can differ.
 */
import { amount, any, choice, group, maybe, one, oneOf, some, text, type ValueOf } from './shape.js'

const MAX_34 = text(34)
const MAX_35 = text(35)
const MAX_105 = text(105)
const MAX_140 = text(140)
const MAX_350 = text(350)
const MAX_2048 = text(2_048)
const MAX_20000 = text(20_000)
const CODE = text(4, /^[A-Z0-9]{1,4}$/)
const COUNT = text(15, /^[0-9]{1,15}$/)
const NUMBER = text(15, /^[0-9]{1,15}$/)
const DATE = text(16, /^\d{4}-\d\d-\d\d(?:Z|[+-]\d\d:\d\d)?$/)
const DATE_TIME = text(40, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?$/)
const CURRENCY = text(3, /^[A-Z]{3}$/)
const UETR = text(36, /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/)
const DIRECTION = oneOf('CRDT', 'DBIT')
const YES_OR_NO = oneOf('true', 'false', '1', '0')
const SETTLEMENT = oneOf('INDA', 'INGA', 'COVE', 'CLRG')

const HEADER = group({ MsgId: one(MAX_35), CreDtTm: one(DATE_TIME) })
const PAGINATION = group({
  ...{ PgNb: one(text(5, /^[0-9]{1,5}$/)), LastPgInd: one(YES_OR_NO) },
})
const STATED_HEADER = group({
  ...{ MsgId: one(MAX_35), CreDtTm: one(DATE_TIME), MsgPgntn: maybe(PAGINATION) },
})
const SETTLED_HEADER = group({
  ...{ MsgId: one(MAX_35), CreDtTm: one(DATE_TIME), NbOfTxs: one(COUNT) },
  SttlmInf: one(group({ SttlmMtd: one(SETTLEMENT) })),
})
const AGENT = group({
  FinInstnId: one(group({ ClrSysMmbId: maybe(group({ MmbId: one(MAX_35) })) })),
})
const ACCOUNT_ID = choice({ IBAN: one(MAX_34), Othr: one(group({ Id: one(MAX_34) })) })
const ACCOUNT = group({ Id: maybe(ACCOUNT_ID) })
const PROXY = group({ Tp: maybe(choice({ Prtry: one(MAX_35) })), Id: one(MAX_2048) })
const REASON = choice({ Cd: one(CODE), Prtry: one(MAX_35) })
const STATUS_REASON = group({ Rsn: maybe(REASON), AddtlInf: any(MAX_105) })
const PARTY = choice({ Agt: one(AGENT) })
const ASSIGNMENT = group({
  ...{ Id: one(MAX_35), Assgnr: one(PARTY), Assgne: one(PARTY), CreDtTm: one(DATE_TIME) },
})
/** How a message names the payment that it is about. */
const ORIGINAL = {
  ...{ OrgnlInstrId: maybe(MAX_35), OrgnlEndToEndId: maybe(MAX_35), OrgnlTxId: maybe(MAX_35) },
  OrgnlUETR: maybe(UETR),
}
/** A statement and a notification of single entries have these. */
const STATED = {
  ...{ ElctrncSeqNb: maybe(NUMBER), CreDtTm: maybe(DATE_TIME) },
  FrToDt: maybe(group({ FrDtTm: one(DATE_TIME), ToDtTm: one(DATE_TIME) })),
  Acct: one(group({ Id: one(ACCOUNT_ID), Ccy: maybe(CURRENCY) })),
}
const BANK_TRANSACTION_CODE = group({
  Domn: maybe(group({ Fmly: maybe(group({ SubFmlyCd: maybe(MAX_35) })) })),
  Prtry: maybe(group({ Cd: one(MAX_35) })),
})
const CHARGES = group({
  Rcrd: any(
    group({ Amt: one(amount), CdtDbtInd: maybe(DIRECTION), ChrgInclInd: maybe(YES_OR_NO) }),
  ),
})
const AMOUNT_DETAILS = group({ TxAmt: maybe(group({ Amt: one(amount) })) })
const ENTRY_REFERENCES = group({
  ...{ InstrId: maybe(MAX_35), EndToEndId: maybe(MAX_35), UETR: maybe(UETR), TxId: maybe(MAX_35) },
})
const ENTRY = group({
  ...{ NtryRef: maybe(MAX_35), Amt: one(amount), CdtDbtInd: one(DIRECTION) },
  RvslInd: maybe(YES_OR_NO),
  Sts: one(choice({ Cd: one(CODE) })),
  BookgDt: maybe(choice({ Dt: one(DATE), DtTm: one(DATE_TIME) })),
  ValDt: maybe(choice({ Dt: one(DATE), DtTm: one(DATE_TIME) })),
  ...{ BkTxCd: one(BANK_TRANSACTION_CODE), Chrgs: maybe(CHARGES) },
  NtryDtls: any(
    group({
      TxDtls: any(
        group({
          ...{ Refs: maybe(ENTRY_REFERENCES), Amt: maybe(amount), CdtDbtInd: maybe(DIRECTION) },
          ...{ AmtDtls: maybe(AMOUNT_DETAILS), BkTxCd: maybe(BANK_TRANSACTION_CODE) },
          Chrgs: maybe(CHARGES),
          RtrInf: maybe(group({ Rsn: maybe(REASON) })),
        }),
      ),
    }),
  ),
})
/** The message that is answered. */
const ORIGINAL_GROUP = group({ OrgnlMsgId: one(MAX_35), OrgnlMsgNmId: one(MAX_35) })

export const APPLICATION_HEADER = {
  name: 'AppHdr',
  namespace: 'urn:iso:std:iso:20022:tech:xsd:head.001.001.02',
  shape: group({
    ...{ Fr: one(choice({ FIId: one(AGENT) })), To: one(choice({ FIId: one(AGENT) })) },
    ...{ BizMsgIdr: one(MAX_35), MsgDefIdr: one(MAX_35), CreDt: one(DATE_TIME) },
  }),
} as const

export const MESSAGES = {
  'pacs.008.001.09': {
    root: 'FIToFICstmrCdtTrf',
    shape: group({
      GrpHdr: one(SETTLED_HEADER),
      CdtTrfTxInf: some(
        group({
          PmtId: one(
            group({
              ...{ InstrId: maybe(MAX_35), EndToEndId: one(MAX_35), TxId: maybe(MAX_35) },
              UETR: maybe(UETR),
            }),
          ),
          PmtTpInf: maybe(group({ SvcLvl: any(choice({ Prtry: one(MAX_35) })) })),
          IntrBkSttlmAmt: one(amount),
          IntrBkSttlmDt: maybe(DATE),
          AccptncDtTm: maybe(DATE_TIME),
          ChrgBr: one(oneOf('DEBT', 'CRED', 'SHAR', 'SLEV')),
          ...{ InstgAgt: maybe(AGENT), InstdAgt: maybe(AGENT) },
          Dbtr: one(group({ Nm: maybe(MAX_140) })),
          DbtrAcct: maybe(ACCOUNT),
          DbtrAgt: one(AGENT),
          CdtrAgt: one(AGENT),
          Cdtr: one(group({ Nm: maybe(MAX_140) })),
          CdtrAcct: maybe(group({ Id: maybe(ACCOUNT_ID), Prxy: maybe(PROXY) })),
          RmtInf: maybe(group({ Ustrd: any(MAX_140) })),
        }),
      ),
    }),
  },
  'pacs.002.001.11': {
    root: 'FIToFIPmtStsRpt',
    shape: group({
      GrpHdr: one(HEADER),
      OrgnlGrpInfAndSts: any(
        group({
          ...{ OrgnlMsgId: one(MAX_35), OrgnlMsgNmId: one(MAX_35), GrpSts: maybe(CODE) },
          StsRsnInf: any(STATUS_REASON),
        }),
      ),
      TxInfAndSts: any(
        group({
          StsId: maybe(MAX_35),
          OrgnlGrpInf: maybe(ORIGINAL_GROUP),
          ...ORIGINAL,
          TxSts: maybe(CODE),
          StsRsnInf: any(STATUS_REASON),
          AccptncDtTm: maybe(DATE_TIME),
          FctvIntrBkSttlmDt: maybe(choice({ Dt: one(DATE), DtTm: one(DATE_TIME) })),
          ClrSysRef: maybe(MAX_35),
          OrgnlTxRef: maybe(group({ IntrBkSttlmAmt: maybe(amount) })),
        }),
      ),
    }),
  },
  'pacs.028.001.04': {
    root: 'FIToFIPmtStsReq',
    shape: group({
      GrpHdr: one(HEADER),
      TxInf: any(group({ StsReqId: maybe(MAX_35), ...ORIGINAL, AccptncDtTm: maybe(DATE_TIME) })),
    }),
  },
  'pacs.004.001.10': {
    root: 'PmtRtr',
    shape: group({
      GrpHdr: one(SETTLED_HEADER),
      TxInf: any(
        group({
          RtrId: maybe(MAX_35),
          ...ORIGINAL,
          ...{ OrgnlIntrBkSttlmAmt: maybe(amount), RtrdIntrBkSttlmAmt: one(amount) },
          IntrBkSttlmDt: maybe(DATE),
          RtrRsnInf: any(group({ Rsn: maybe(REASON) })),
        }),
      ),
    }),
  },
  'camt.056.001.09': {
    root: 'FIToFIPmtCxlReq',
    shape: group({
      Assgnmt: one(ASSIGNMENT),
      Undrlyg: some(
        group({
          TxInf: any(
            group({
              CxlId: maybe(MAX_35),
              ...ORIGINAL,
              OrgnlIntrBkSttlmAmt: maybe(amount),
              CxlRsnInf: any(group({ Rsn: maybe(REASON) })),
            }),
          ),
        }),
      ),
    }),
  },
  'camt.029.001.10': {
    root: 'RsltnOfInvstgtn',
    shape: group({
      Assgnmt: one(ASSIGNMENT),
      Sts: one(choice({ Conf: one(CODE) })),
      CxlDtls: any(
        group({
          OrgnlGrpInfAndSts: maybe(
            group({
              ...{ OrgnlMsgId: one(MAX_35), OrgnlMsgNmId: one(MAX_35), GrpCxlSts: maybe(CODE) },
              CxlStsRsnInf: any(group({ Rsn: maybe(REASON) })),
            }),
          ),
          TxInfAndSts: any(
            group({
              CxlStsId: maybe(MAX_35),
              ...ORIGINAL,
              TxCxlSts: maybe(oneOf('RJCR', 'ACCR', 'PDCR')),
              CxlStsRsnInf: any(group({ Rsn: maybe(REASON) })),
            }),
          ),
        }),
      ),
    }),
  },
  'camt.053.001.08': {
    root: 'BkToCstmrStmt',
    shape: group({
      GrpHdr: one(STATED_HEADER),
      Stmt: some(
        group({
          ...{ Id: one(MAX_35), StmtPgntn: maybe(PAGINATION), ...STATED },
          Bal: some(
            group({
              Tp: one(group({ CdOrPrtry: one(choice({ Cd: one(CODE) })) })),
              ...{ Amt: one(amount), CdtDbtInd: one(DIRECTION) },
              Dt: one(choice({ Dt: one(DATE), DtTm: one(DATE_TIME) })),
            }),
          ),
          Ntry: any(ENTRY),
        }),
      ),
    }),
  },
  'camt.054.001.08': {
    root: 'BkToCstmrDbtCdtNtfctn',
    shape: group({
      GrpHdr: one(STATED_HEADER),
      Ntfctn: some(
        group({
          ...{ Id: one(MAX_35), NtfctnPgntn: maybe(PAGINATION), ...STATED, Ntry: any(ENTRY) },
        }),
      ),
    }),
  },
  'admi.002.001.01': {
    root: 'admi.002.001.01',
    shape: group({
      RltdRef: one(group({ Ref: one(MAX_35) })),
      Rsn: one(
        group({
          ...{ RjctgPtyRsn: one(MAX_35), RjctnDtTm: maybe(DATE_TIME), ErrLctn: maybe(MAX_350) },
          ...{ RsnDesc: maybe(MAX_350), AddtlData: maybe(MAX_20000) },
        }),
      ),
    }),
  },
} as const

export type MessageName = keyof typeof MESSAGES
export type MessageBody<Name extends MessageName> = ValueOf<(typeof MESSAGES)[Name]['shape']>

export type Message = {
  [Name in MessageName]: MessageHead & { readonly name: Name; readonly body: MessageBody<Name> }
}[MessageName]

export interface MessageHead {
  /** The members of the network: sender and receiver. */
  readonly from: string
  readonly to: string
  /** Also in the body of the message. */
  readonly id: string
  readonly createdAt: string
}

export const namespaceOf = (name: MessageName): string => `urn:iso:std:iso:20022:tech:xsd:${name}`
