/**
 * Forms that change something. Each asks for the reason, which the action log keeps, and is opened
 * before it is filled in, so that a single key press changes nothing.
 */
import { html, NOTHING, type Content, type Html } from './html.js'

export interface Field {
  readonly name: string
  readonly label: string
  /** The choices. Absent if the field is a text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
  readonly hint?: string
  readonly value?: string
  readonly isOptional?: boolean
}

export interface ActionForm {
  /** The name of the action in actions/actions. */
  readonly action: string
  readonly title: string
  readonly button: string
  readonly isDangerous?: boolean
  /** What happens. */
  readonly about?: Content
  readonly hidden?: Readonly<Record<string, string>>
  readonly fields?: readonly Field[]
}

export interface FormContext {
  readonly formToken: string
  readonly roles: readonly string[]
  /** The page that is shown afterwards. */
  readonly back: string
}

export const EVIDENCE: Field = {
  name: 'evidence',
  label: 'Evidence',
  hint: 'Where it can be looked up, such as a line of the bank’s statement',
}

const REVIEWED = {
  payout: ['It is submitted to the bank.', 'It fails, and its money is released.'],
  intent: ['It is submitted to the bank.', 'It fails, and its money is released.'],
  request: ['The change is made.', 'The change is not made.'],
} as const

const OTHER_THAN: Field = {
  name: 'other_than',
  label: 'Other than',
  hint: 'Equal orphan executions that did not pay it, if any: their ids, separated by commas',
  isOptional: true,
}

/** Approve or reject something that is held. */
export const reviewOf = (kind: keyof typeof REVIEWED, id: string): ActionForm[] => [
  {
    ...{ action: `approve-${kind}`, title: 'Approve', button: 'Approve it', hidden: { id } },
    about: REVIEWED[kind][0],
    ...(kind === 'request' ? {} : { fields: [OTHER_THAN] }),
  },
  {
    ...{ action: `reject-${kind}`, title: 'Reject', button: 'Reject it', hidden: { id } },
    about: REVIEWED[kind][1],
    isDangerous: true,
  },
]

/** Inquire at the bank now. */
export const inquireForm = (id: string): ActionForm => ({
  ...{ action: 'inquire', title: 'Ask now', button: 'Ask the bank' },
  about: 'Its answer is applied like any other; the next inquiry stays as it is.',
  hidden: { id },
})

export type Kind = 'intent' | 'payout'

/** Record an outcome that the bank does not report. */
export const resolveForm = (kind: Kind, id: string, outcomes: readonly string[]): ActionForm => ({
  ...{ action: `resolve-${kind}`, title: 'Resolve', button: 'Record this outcome', hidden: { id } },
  about: 'Record what the bank did, when its answer is missing. The inquiries go on.',
  fields: [
    { name: 'outcome', label: 'Outcome', choices: outcomes.map((each) => [each, each]) },
    EVIDENCE,
  ],
  isDangerous: true,
})

export type ChangeRole = 'operate' | 'decide'

/** Absent forms are those of roles that the operator does not have. */
export const actions = (
  context: FormContext,
  role: ChangeRole,
  forms: readonly ActionForm[],
): Html =>
  actionsByRole(
    context,
    forms.map((form) => [role, form]),
  )

/** Likewise, each form with the role that it needs. */
export function actionsByRole(
  context: FormContext,
  forms: readonly (readonly [role: ChangeRole, form: ActionForm])[],
): Html {
  if (forms.length === 0) return NOTHING
  const allowed = forms.filter(([role]) => context.roles.includes(role))
  if (allowed.length > 0) {
    return html`<div class="actions">${allowed.map(([, form]) => actionForm(context, form))}</div>`
  }
  const roles = [...new Set(forms.map(([role]) => role))].join(' or ')
  return html`<p class="hint">Changes need the role <strong>${roles}</strong>.</p>`
}

function actionForm(context: FormContext, form: ActionForm): Html {
  const { action, title, button, about, hidden = {}, fields = [], isDangerous = false } = form
  const all = { ...hidden, form_token: context.formToken, back: context.back }
  const scope = [action, ...Object.values(hidden)].join('-').replaceAll(/[^A-Za-z0-9_-]/g, '_')
  return html`
    <details class="action" name="action">
      <summary class="button ${isDangerous ? 'danger' : ''}">${title}</summary>
      <form method="post" action="/do/${action}">
        ${about === undefined ? NOTHING : html`<p>${about}</p>`}
        ${Object.entries(all).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        ${[...fields, REASON].map((field) => fieldOf(scope, field))}
        <button class="${isDangerous ? 'danger' : 'primary'}">${button}</button>
      </form>
    </details>
  `
}

const REASON: Field = {
  name: 'reason',
  label: 'Reason',
  hint: 'Kept in the action log with your name',
}

function fieldOf(scope: string, { name, label, choices, hint, value, isOptional }: Field): Html {
  const id = `${scope}-${name}`
  const required = isOptional === true ? NOTHING : html`required`
  const described = hint === undefined ? NOTHING : html`aria-describedby="${id}-hint"`
  const input =
    choices === undefined
      ? html`<input
          id="${id}"
          name="${name}"
          value="${value ?? ''}"
          maxlength="500"
          autocomplete="off"
          ${required}
          ${described}
        />`
      : html`<select id="${id}" name="${name}" ${required} ${described}>
          <option value="">Choose</option>
          ${choices.map(([each, text]) => html`<option value="${each}">${text}</option>`)}
        </select>`
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${input} ${hint === undefined ? NOTHING : html`<small id="${id}-hint">${hint}</small>`}
  </div>`
}
