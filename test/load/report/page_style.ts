/**
 * The style of a page of results: light or dark, as its reader's system is.
 *
 * Colours are variables, `--c1` to `--c10` those of the plots.
 */
export const STYLE = `
:root {
  --ground: #ffffff; --panel: #f7f8fa; --text: #1b1f27; --quiet: #667085; --edge: #e3e6ec;
  --band: #eef1f6; --good: #0f7b46; --bad: #b3261e;
  --c1: #2563eb; --c2: #d97706; --c3: #0d9668; --c4: #d6336c;
  --c5: #7c3aed; --c6: #0891b2; --c7: #6d8a12; --c8: #8a94a6;
  --c9: #92603a; --c10: #3b4658;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --panel: #1b1f26; --text: #e8eaf0; --quiet: #98a2b3; --edge: #2c323d;
    --band: #20252e; --good: #4ade80; --bad: #f87171;
    --c1: #6ea8fe; --c2: #fbb24c; --c3: #43d3a0; --c4: #ff7aa8;
    --c5: #b794ff; --c6: #4fd1ed; --c7: #b7d957; --c8: #7d8797;
    --c9: #d3a27a; --c10: #d5dbe6;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; max-width: 1440px; padding: 28px 32px 64px;
  background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "Liberation Sans", sans-serif;
}
h1 { margin: 0; font-size: 26px; font-weight: 400 }
h2 { margin: 44px 0 0; font-size: 20px }
h2 + .tiles { margin-top: 12px }
header p, section > p { margin: 0 0 14px; color: var(--quiet) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 }
dt { color: var(--quiet) }
dd { margin: 0 }
aside {
  margin: 20px 0; padding: 12px 16px; border-left: 4px solid var(--bad); background: var(--panel);
}
aside ul { margin: 6px 0 0; padding-left: 20px }

.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 12px }
.tile {
  padding: 12px 16px; border: 1px solid var(--edge); border-radius: 8px; background: var(--panel);
}
.tile span { display: block; color: var(--quiet); font-size: 13px }
.tile b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums }
.tile em { font-size: 12.5px; font-style: normal; color: var(--quiet) }
.tile.met em { color: var(--good) }
.tile.missed em, tr.missed td { color: var(--bad) }

.plots {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(520px, 1fr)); gap: 18px;
  margin: 18px 0;
}
figure { margin: 0; padding: 14px 16px 8px; border: 1px solid var(--edge); border-radius: 8px }
figcaption { font-weight: 600 }
figcaption small { font-weight: 400; color: var(--quiet) }
.legend {
  display: flex; flex-wrap: wrap; gap: 2px 14px; min-height: 22px;
  font-size: 12.5px; color: var(--quiet);
}
.legend i {
  display: inline-block; width: 14px; height: 3px; margin-right: 6px; vertical-align: middle;
  border-radius: 2px; background: var(--c);
}
.legend i.dashed {
  background: repeating-linear-gradient(90deg, var(--c) 0 4px, transparent 4px 7px);
}

svg { display: block; width: 100%; height: auto; overflow: visible }
svg text { fill: var(--quiet); font-size: 11.5px; font-variant-numeric: tabular-nums }
text.y { text-anchor: end; dominant-baseline: central }
text.x, text.band { text-anchor: middle }
rect.band { fill: none }
rect.band.even { fill: var(--band) }
.grid { stroke: var(--edge) }
.tick { stroke: var(--quiet) }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round }
.line.dashed { stroke-dasharray: 5 4 }
.area { stroke: var(--ground); stroke-width: .6; fill-opacity: .85 }

table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td { padding: 3px 22px 3px 0; border-bottom: 1px solid var(--edge) }
td:nth-child(2), td:nth-child(3) { text-align: right }
table.overview { margin-top: 24px }
.overview td:nth-child(2) { text-align: left }
tr.met td:last-child { color: var(--good) }
a { color: inherit }
details { margin: 14px 0 }
summary { cursor: pointer; color: var(--quiet) }
pre { margin: 12px 0 0; color: var(--quiet); white-space: pre-wrap; font-size: 13px }
@media (max-width: 620px) { body { padding: 16px } .plots { grid-template-columns: 1fr } }
`
