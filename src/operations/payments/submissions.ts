/** Commands that pause and resume the submissions of a rail, a corridor or an environment. */
import { CHANGE, deciderOf } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { settingReport } from '../shards/shared_settings.js'
import { table } from '../cli/terminal.js'

const OF = ['rail', 'corridor', 'environment'] as const

export const submissionsPause: CliCommand = {
  usage: 'submissions pause',
  about: 'submit nothing to a rail, of a corridor or of an environment; inquiries go on',
  options: [...CHANGE, ...OF],
  run: (context) => change(context, 'PauseSubmissions', 'paused'),
}

export const submissionsResume: CliCommand = {
  usage: 'submissions resume',
  about: 'submit again what has waited',
  options: [...CHANGE, ...OF],
  run: (context) => change(context, 'ResumeSubmissions', 'submitted again'),
}

export const submissionsList: CliCommand = {
  usage: 'submissions list',
  about: 'submissions that are paused',
  run: async ({ operator }) => {
    const list = await operator.call('ListSubmissionPauses', {})
    const rows = list.data.map(
      rowOrName(({ subject, actor, paused_at: since, reason }) => [subject, actor, since, reason]),
    )
    const lines =
      rows.length === 0
        ? ['No submissions are paused.']
        : [table([['paused', 'by', 'since', 'reason'], ...rows], [])]
    return { value: list, lines }
  },
}

async function change(
  context: Context,
  call: 'PauseSubmissions' | 'ResumeSubmissions',
  done: string,
): Promise<Report> {
  const subject = subjectOf(context)
  const changed = await context.operator.call(call, { actor: deciderOf(context), subject })
  const applied = await settingReport(context, changed.settings_version)
  return {
    ...applied,
    value: { ...changed, ...applied.value },
    lines: [`${subject}: ${done}`, ...applied.lines],
  }
}

function subjectOf({ flags }: Context): string {
  const [given, ...others] = OF.filter((scope) => flags[scope] !== undefined)
  if (given === undefined || others.length > 0) {
    throw new CommandFault('Name one of --rail NAME, --corridor CORRIDOR, --environment ENV.')
  }
  return `${given} ${flags[given]}`
}
