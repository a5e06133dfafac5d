// include variables.js

const found = variablesOf(pm.response.json())
for (const name of Object.keys(found)) pm.collectionVariables.set(name, found[name])
