/** The fields of the API reference for credentials: typed, pasted, or taken from sandbox.json. */

/** @param {() => void} onChange called when they were taken from a file or from the clipboard */
export function useCredentials(onChange) {
  const file = input('sandbox-file')
  const takeFile = async () => {
    const text = await file.files?.[0]?.text()
    if (text === undefined) return
    element('file-note').textContent = take(text)
      ? 'Key and secret are taken from the file.'
      : 'This file has no key_id and signing_secret.'
    file.value = ''
    onChange()
  }
  file.addEventListener('change', takeFile)
  void takeFile() // one that was chosen while the page loaded
  for (const id of ['key-id', 'secret']) {
    input(id).addEventListener('paste', (event) => {
      if (!take(event.clipboardData?.getData('text') ?? '')) return
      event.preventDefault()
      onChange()
    })
  }
}

/** @param {string} text perhaps the content of sandbox.json */
function take(text) {
  const { key_id: keyId, signing_secret: secret } = parsed(text)
  if (typeof keyId !== 'string' || typeof secret !== 'string') return false
  input('key-id').value = keyId
  input('secret').value = secret
  return true
}

/**
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function parsed(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** @param {string} id */
export function valueOf(id) {
  return input(id).value.trim()
}

/** @param {string} id */
export function input(id) {
  return /** @type {HTMLInputElement} */ (element(id))
}

/** @param {string} id */
export function element(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no element ${id}`)
  return found
}
