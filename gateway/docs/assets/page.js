/** On every page: buttons that copy a block of code, and the current tab in view on a phone. */

const DONE_MS = 1_500

document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

/** Browsers offer the clipboard only to secure contexts. */
if (navigator.clipboard !== undefined) {
  for (const block of document.querySelectorAll('article pre')) addButton(block)
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element && event.target.closest('button.copy')
    if (button) void copy(button)
  })
} else {
  document.documentElement.classList.add('no-clipboard')
}

/** @param {Element} block */
function addButton(block) {
  const frame = document.createElement('div')
  frame.className = 'copyable'
  const button = document.createElement('button')
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' })
  block.replaceWith(frame)
  frame.append(block, button)
}

/** @param {Element} button beside the block that it copies */
async function copy(button) {
  const text = button.parentElement?.querySelector('pre')?.textContent ?? ''
  await navigator.clipboard.writeText(text)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = 'Copy'), DONE_MS)
}
