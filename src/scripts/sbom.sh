#!/bin/sh
# Writes the bill of materials of what is shipped (CycloneDX) to .build/: sbom.sh. Needs npm 10 or newer.
set -eu
cd "$(dirname "$0")/../.."
version=$(node -p 'require("./package.json").version')
file=.build/causeway-$version.cdx.json
mkdir -p .build
npm sbom --sbom-format cyclonedx --sbom-type application --omit=dev --package-lock-only --loglevel=error >"$file.new" || {
  rm -f "$file.new"
  echo 'npm wrote no bill of materials; it needs npm 10 or newer (npm install -g npm)' >&2
  exit 1
}
# npm names the project by its folder.
node -e '
const { readFileSync, writeFileSync } = require("node:fs")
const [draft, file] = process.argv.slice(1)
const bom = JSON.parse(readFileSync(draft, "utf8"))
bom.metadata.component.name = require("./package.json").name
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`, { mode: 0o644 })
console.log(`${file}: ${bom.components.length} packages, CycloneDX ${bom.specVersion}`)
' "$file.new" "$file"
rm "$file.new"
