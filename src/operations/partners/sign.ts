/** `sign`: shows how to sign a request. */
import { isUtf8 } from 'node:buffer'
import { bytesIn, CommandFault, type CliCommand } from '../cli/command.js'
import { shellWord } from '../cli/command_text.js'
import { connect } from '../../client/index.js'
import { credentialsOf } from '../calls/sandbox.js'

export const sign: CliCommand = {
  usage: 'sign METHOD PATH',
  about: 'show the canonical request, its signature headers and a curl line',
  options: ['body'],
  run: ({ sandbox, clock, flags }, [method = '', path = '']) => {
    if (!path.startsWith('/')) throw new CommandFault(`${path} is not a path, e.g. /v1/balances.`)
    const body = flags.body === undefined ? '' : textIn(flags.body)
    const partner = connect(credentialsOf(sandbox, sandbox.brand), { now: () => clock.now() })
    const { canonical, headers } = partner.sign(method, path, body)
    const data = flags.body === undefined ? [] : [`--data-binary ${shellWord(`@${flags.body}`)}`]
    const curl = [
      `curl -i -X ${shellWord(method)} ${shellWord(`${sandbox.base_url}${path}`)}`,
      `-H 'Host: ${sandbox.host}'`,
      ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
      ...data,
    ].join(' \\\n  ')
    return Promise.resolve({
      value: { canonical, headers },
      lines: [
        'The canonical request, line feeds shown as ⏎ (the last line has one too):',
        ...canonical
          .split('\n')
          .slice(0, -1)
          .map((line) => `  ${line}⏎`),
        'The headers:',
        ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
        'Valid for one call within five minutes:',
        ...curl.split('\n'),
      ],
    })
  },
}

/** The signature covers the bytes that curl sends, so the text must be the same bytes. */
function textIn(file: string): string {
  const bytes = bytesIn(file)
  if (!isUtf8(bytes)) throw new CommandFault(`${file} is not UTF-8, which JSON needs.`)
  return bytes.toString()
}
