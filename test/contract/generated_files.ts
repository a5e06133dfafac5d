/** The generated files of the contract, as text: a test compares them with the committed ones. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { ROUTES } from '../../gateway/app.js'
import { openApiDocument } from '../../gateway/openapi/document.js'
import type { Examples } from '../../gateway/openapi/examples.js'
import { DOCUMENT_FILE } from '../../gateway/openapi/served.js'
import { projectRoot } from '../../src/base/project_root.js'
import { GUIDE_INDEX, guidePage } from '../support/operators_guide.js'
import { partnerGuideFile, partnerGuideFiles } from '../support/partner_guide.js'
import { withCorridors } from './guide_corridors.js'
import { withTable } from './guide_table.js'
import { withOperatorErrors, withPartnerErrors } from './guide_errors.js'
import { clientTypes, withNarrowComments, type TypedDocument } from './client_types.js'
import { pythonCalls } from './clients/python_calls.js'
import { pythonTypes } from './clients/python_types.js'
import { rowsOfCalls, snakeOf } from './clients/signed_calls.js'
import { typescriptCalls } from './clients/typescript_calls.js'
import { withExamples } from './guide_examples.js'
import { withPartnerOperations, withRpcs } from './guide_operations.js'
import { withAccess, withAlerts } from './operators_guide.js'

export interface GeneratedFile {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}

const INTERNAL_GUIDE_FILE = 'protos/README.md'
const TYPES_FILE = 'src/client/api_types.ts'
const CALLS_FILE = 'src/client/api_calls.ts'
const CLIENT_GUIDE = 'src/client/README.md'
const PYTHON = 'src/client/python'
const CALLS_HEAD = '| | Calls |'
export const EXAMPLES_FILE = 'gateway/openapi/examples.json'

const committed = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8')

/** As the project's formatter leaves it. */
export async function formatted(path: string, text: string): Promise<string> {
  const options = await resolveConfig(join(projectRoot(), path))
  return format(text, { ...options, filepath: path })
}

export async function generatedFiles(): Promise<readonly GeneratedFile[]> {
  const examples = JSON.parse(committed(EXAMPLES_FILE)) as Examples
  const document = openApiDocument(ROUTES, examples)
  const python = pythonTypes((document as unknown as TypedDocument).components.schemas)
  const pythonGuide = `${PYTHON}/README.md`
  const [codes, callers] = [guidePage('Error codes'), guidePage('Callers')]
  return [
    ...(await partnerGuide(examples)),
    { path: INTERNAL_GUIDE_FILE, text: withRpcs(committed(INTERNAL_GUIDE_FILE)) },
    { path: GUIDE_INDEX, text: withAlerts(committed(GUIDE_INDEX)) },
    { path: codes.path, text: withOperatorErrors(codes.text) },
    { path: callers.path, text: withAccess(callers.text) },
    {
      path: DOCUMENT_FILE,
      text: await formatted(DOCUMENT_FILE, JSON.stringify(document)),
    },
    {
      path: TYPES_FILE,
      text: withNarrowComments(
        await formatted(TYPES_FILE, await clientTypes(document as unknown as TypedDocument)),
      ),
    },
    {
      path: CALLS_FILE,
      text: withNarrowComments(await formatted(CALLS_FILE, typescriptCalls())),
    },
    { path: `${PYTHON}/causeway/types.py`, text: python.text },
    { path: `${PYTHON}/causeway/api_calls.py`, text: pythonCalls(python) },
    { path: CLIENT_GUIDE, text: withTable(committed(CLIENT_GUIDE), CALLS_HEAD, rowsOfCalls()) },
    {
      path: pythonGuide,
      text: withTable(committed(pythonGuide), CALLS_HEAD, rowsOfCalls(snakeOf)),
    },
  ]
}

const PARTNER_TABLES: Readonly<Record<string, (page: string) => string>> = {
  [partnerGuideFile('errors')]: withPartnerErrors,
  [partnerGuideFile('operations')]: withPartnerOperations,
  [partnerGuideFile('payments')]: withCorridors,
}

const partnerGuide = (examples: Examples): Promise<readonly GeneratedFile[]> =>
  Promise.all(
    partnerGuideFiles().map(async (path) => {
      const page = await withExamples(committed(path), examples)
      return { path, text: PARTNER_TABLES[path]?.(page) ?? page }
    }),
  )
