/**
 * Finds text that is too faint: a contrast below level AA of WCAG 2.2, which is 4.5, or 3 for
 * large text.
 *
 * It runs in the page, so it is a program as text. It answers with a list of faults.
 */
export const FAINT_TEXTS = `(() => {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const known = new Map() // a page has few colors, and each read of the canvas is slow
  const channels = (color) => {
    const found = known.get(color)
    if (found !== undefined) return found
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data
    known.set(color, [r, g, b, a / 255])
    return [r, g, b, a / 255]
  }
  const over = (top, under) =>
    [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1)
  const groundOf = (element) => {
    const layers = []
    for (let at = element; at !== null; at = at.parentElement) {
      layers.push(channels(getComputedStyle(at).backgroundColor))
    }
    const shade = matchMedia('(prefers-color-scheme: dark)').matches ? 0 : 255
    return layers.reverse().reduce((under, layer) => over(layer, under), [shade, shade, shade, 1])
  }
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  }
  const opacityOf = (element) => {
    let opacity = 1
    for (let at = element; at !== null; at = at.parentElement) {
      opacity *= getComputedStyle(at).opacity
    }
    return opacity
  }
  const faults = []
  const check = (element, style, text) => {
    const ground = groundOf(element)
    const [r, g, b, a] = channels(style.color)
    const ratio = contrast(over([r, g, b, a * opacityOf(element)], ground), ground)
    const size = Number(style.fontSize.replace('px', ''))
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio >= (isLarge ? 3 : 4.5)) return
    const name = element.tagName.toLowerCase() + '.' + element.getAttribute('class')
    faults.push(ratio.toFixed(2) + ' ' + name + ': ' + text.trim().slice(0, 40))
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement
    if (texts.currentNode.data.trim() === '' || !element.checkVisibility()) continue
    if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(element.tagName)) continue
    check(element, getComputedStyle(element), texts.currentNode.data)
  }
  for (const field of document.querySelectorAll('input, textarea, select')) {
    if (!field.checkVisibility() || getComputedStyle(field).opacity === '0') continue
    check(field, getComputedStyle(field), 'value of ' + field.id)
    if (field.placeholder) check(field, getComputedStyle(field, '::placeholder'), field.placeholder)
  }
  return [...new Set(faults)]
})()`
