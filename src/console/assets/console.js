// What the pages of the console cannot do as HTML: live parts, copying, the key for the search,
// texts that outlive a session.
'use strict'

/**
 * Makes the content of an element equal to that of another. What is equal stays as it is, with
 * focus, selection and scroll position; what an operator has opened stays open.
 */
function makeEqual(element, made) {
  const before = [...element.childNodes]
  const after = [...made.childNodes]
  while (after.length > 0 && before[0]?.isEqualNode(after[0])) {
    before.shift()
    after.shift()
  }
  let end = null
  while (after.length > 0 && before.at(-1)?.isEqualNode(after.at(-1))) {
    end = before.pop()
    after.pop()
  }
  for (const node of after) {
    const own = before.shift()
    if (own?.nodeName !== node.nodeName) {
      element.insertBefore(node, own ?? end)
      own?.remove()
    } else if (node instanceof CharacterData) {
      own.data = node.data
    } else {
      for (const { name } of [...own.attributes])
        if (name !== 'open' && !node.hasAttribute(name)) own.removeAttribute(name)
      for (const { name, value } of node.attributes)
        if (own.getAttribute(name) !== value) own.setAttribute(name, value)
      makeEqual(own, node)
    }
  }
  for (const own of before) own.remove()
}

const live = document.getElementById('live')
if (live) {
  const source = new EventSource(live.dataset.from)
  const say = (isStale) => (document.getElementById('stale').hidden = !isStale)
  source.addEventListener('part', ({ data }) => {
    const made = live.cloneNode(false)
    // Made by the server, which escapes everything that is put into it.
    made.innerHTML = data
    makeEqual(live, made)
  })
  source.addEventListener('state', ({ data }) => say(data === 'stale'))
  source.addEventListener('error', () => say(true))
  source.addEventListener('end', () => {
    source.close()
    location.reload()
  })
}

/** Scrolls a line that is wider than its box. `scrollIntoView` would move where the Tab key begins. */
function center(box, current) {
  if (!box || !current) return
  const [whole, part] = [box.getBoundingClientRect(), current.getBoundingClientRect()]
  box.scrollLeft += part.left - whole.left - (whole.width - part.width) / 2
}

// On a narrow screen the pages and the states are one line, which may begin far from the current one.
center(document.querySelector('nav'), document.querySelector('nav [aria-current]'))
center(document.querySelector('.drawing'), document.querySelector('.drawing .current'))

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]')
  if (!button) return
  await navigator.clipboard.writeText(button.dataset.copy)
  const text = button.textContent
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = text), 1500)
})

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  document.getElementById('q')?.focus()
})

// A form is sent once.
document.addEventListener('submit', ({ target }) => {
  if (target.method !== 'post') return
  for (const button of target.querySelectorAll('button')) button.disabled = true
})

// What is typed into a form is kept in this tab until it is sent: when the session ends meanwhile,
// it is there again after the same operator has signed in.
const TYPED = 'typed'
const operator = document.querySelector('.operator strong')?.textContent
const typed = JSON.parse(sessionStorage.getItem(TYPED))
const keep = (made) => sessionStorage.setItem(TYPED, JSON.stringify(made))

if (typed && !operator) {
  keep({ ...typed, isSent: false }) // Without a session a form has changed nothing.
} else if (typed?.operator === operator && typed?.page === location.pathname && !typed.isSent) {
  for (const [id, value] of Object.entries(typed.fields)) {
    const field = document.getElementById(id)
    if (!field) continue
    field.value = value
    field.closest('details')?.setAttribute('open', '')
  }
} else {
  sessionStorage.removeItem(TYPED)
}

document.addEventListener('input', ({ target: { form } }) => {
  if (!operator || form?.method !== 'post') return
  const texts = [...form.elements].filter(({ id, type }) => id && type !== 'file')
  const fields = Object.fromEntries(texts.map(({ id, value }) => [id, value]))
  keep({ operator, page: location.pathname, fields })
})

document.addEventListener('submit', ({ target }) => {
  const sent = JSON.parse(sessionStorage.getItem(TYPED))
  if (sent && operator && target.method === 'post') keep({ ...sent, isSent: true })
})
