// include variables.js

const found = variablesOf(res.getBody() || {})
for (const name of Object.keys(found)) bru.setVar(name, found[name])
