// Draws the charts of a load report. Their values are beside the pointer, of all charts of a section at once.
'use strict'

const HEIGHT = 240
const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)
const format = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 })

const charts = [...document.querySelectorAll('[data-chart]')].map((place) => {
  const { title, unit, isLogarithmic, at, lines } = JSON.parse(place.dataset.chart)
  const axis = {
    stroke: () => tone('muted'),
    grid: { stroke: () => tone('line'), width: 1 },
    ticks: { show: false },
  }
  const said = (value) => (value === null || value === undefined ? '–' : `${format(value)} ${unit}`)
  const sync = place.closest('section').querySelector('h2').textContent
  const mark = (index) => `var(--${lines[index - 1]?.tone ?? 'muted'})`
  const range = (_chart, _least, most) => [0, (most ?? 0) * 1.1 || 1]
  const chart = new uPlot(
    {
      ...{ width: place.clientWidth, height: HEIGHT },
      scales: { x: { time: false }, y: isLogarithmic ? { distr: 3 } : { range } },
      axes: [
        { ...axis, values: (_chart, splits) => splits.map((second) => `${second} s`) },
        {
          ...axis,
          size: 60,
          values: (_chart, splits) => splits.map((y) => (y === null ? '' : format(y))),
        },
      ],
      cursor: { sync: { key: sync }, drag: { setScale: true } },
      legend: {
        markers: {
          stroke: (_chart, index) => mark(index),
          fill: (_chart, index) => (lines[index - 1]?.isDashed ? 'transparent' : mark(index)),
          dash: (_chart, index) => (lines[index - 1]?.isDashed ? 'dashed' : 'solid'),
        },
      },
      series: [
        {
          label: 'time',
          value: (_chart, second) => (second === null ? '–' : `${second.toFixed(1)} s`),
        },
        ...lines.map(({ name, tone: color, isDashed }) => ({
          ...{ label: name, stroke: () => tone(color), width: 2 },
          ...{ dash: isDashed ? [6, 4] : undefined },
          points: { show: at.length < 40, size: 5, fill: () => tone(color) },
          value: (_chart, value) => said(value),
        })),
      ],
    },
    [at, ...lines.map(({ values }) => values)],
    place,
  )
  chart.root.querySelector('canvas').setAttribute('role', 'img')
  chart.root.querySelector('canvas').setAttribute('aria-label', title)
  return { place, chart }
})

addEventListener('resize', () => {
  for (const { place, chart } of charts) chart.setSize({ width: place.clientWidth, height: HEIGHT })
})
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const { chart } of charts) chart.redraw(false)
})
