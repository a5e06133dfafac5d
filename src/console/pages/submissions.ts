/** The card of the pauses: what is submitted to no bank now; pause and resume. */
import type { RouteList__Output as RouteList } from '../../../protos/types/causeway/operator/v1/RouteList.js'
import type { SubmissionPause__Output as Pause } from '../../../protos/types/causeway/operator/v1/SubmissionPause.js'
import { actions, type ActionForm } from '../html/action_forms.js'
import { html, type Content, type Html } from '../html/html.js'
import { badge, card, commandLine, incomplete, table, time } from '../html/parts.js'
import { formContext, missingIn, part, type PageContext } from '../session/console_page.js'

const PAGE = '/money'

/** @param routes they name what can be paused */
export async function submissionsCard(
  context: PageContext,
  routes: Promise<RouteList>,
): Promise<Html> {
  const pauses = context.clients.operator.call('ListSubmissionPauses', {})
  const subjects = subjectsOf(await routes.catch(() => undefined))
  return part('The pauses of submissions', pauses, (found) => {
    const paused = new Set(found.data.map(({ subject }) => subject))
    return card(
      'Submissions',
      html`${incomplete(missingIn(found))}
      ${table({
        caption: 'Submissions that are paused',
        columns: ['Paused', 'By', 'Since', 'Reason', ''],
        rows: found.data.map((pause) => pauseRow(context, pause)),
        empty: 'Nothing is paused: every instruction is submitted to its rail.',
      })}
      ${actions(formContext(context, PAGE), 'operate', [
        pauseForm(subjects.filter((subject) => !paused.has(subject))),
      ])}
      ${commandLine('submissions list')}`,
      paused.size === 0 ? badge('all submitted', 'good') : badge(`${paused.size} paused`, 'warn'),
    )
  })
}

const pauseForm = (subjects: readonly string[]): ActionForm => ({
  ...{ action: 'pause-submissions', title: 'Pause', button: 'Pause the submissions' },
  about:
    'New payments are accepted and wait. What is submitted already is inquired about and ' +
    'not sent again.',
  fields: [
    {
      ...{ name: 'subject', label: 'What is paused' },
      choices: subjects.map((subject) => [subject, subject]),
    },
  ],
  isDangerous: true,
})

function pauseRow(context: PageContext, pause: Pause): readonly Content[] {
  const { subject, actor, paused_at: since, reason } = pause
  const resume: ActionForm = {
    ...{ action: 'resume-submissions', title: 'Resume', button: 'Submit again' },
    about: 'What has waited is submitted now. It may need a second operator.',
    hidden: { subject },
  }
  return [
    html`<strong>${subject}</strong>`,
    actor,
    pause.corrupt === undefined ? time(since, context.now) : `${pause.corrupt}: corrupt row`,
    reason,
    actions(formContext(context, PAGE), 'operate', [resume]),
  ]
}

/** Rails, corridors and environments of the routes: `production/TH/THB`, `sandbox/th_promptpay`. */
function subjectsOf(routes: RouteList | undefined): readonly string[] {
  const all = routes?.rails ?? []
  const corridors = all.map(({ route }) => `corridor ${route.slice(route.indexOf('/') + 1)}`)
  const environments = all.map(({ route }) => `environment ${route.split('/')[0] ?? ''}`)
  const rails = all.map(({ rail }) => `rail ${rail}`)
  const sorted = [rails, corridors, environments].map((each) => [...new Set(each)].toSorted())
  return sorted.flat()
}
