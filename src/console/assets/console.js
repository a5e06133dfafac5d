// What the pages of the console cannot do as HTML: live parts, copying, the key for the search.
'use strict'

const live = document.getElementById('live')
if (live) {
  const source = new EventSource(live.dataset.from)
  const say = (isStale) => live.classList.toggle('stale', isStale)
  source.addEventListener('part', ({ data }) => {
    const focused = live.contains(document.activeElement) ? document.activeElement.id : ''
    // Made by the server, which escapes everything that is put into it.
    live.innerHTML = data
    if (focused) document.getElementById(focused)?.focus()
  })
  source.addEventListener('state', ({ data }) => say(data === 'stale'))
  source.addEventListener('error', () => say(true))
  source.addEventListener('end', () => {
    source.close()
    location.reload()
  })
}

// On a narrow screen the pages are one line, which may begin far from the current one.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

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
