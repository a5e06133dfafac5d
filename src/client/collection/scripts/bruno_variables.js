// include variables.js

const answer = res.getBody() || {}
const found = variablesOf(answer)
for (const name of Object.keys(found)) bru.setVar(name, found[name])

const asked = isOpen(req.getMethod(), answer) ? Number(bru.getVar('asked') || 0) + 1 : 0
bru.setVar('asked', asked)
if (asked > 0 && asked < 60) {
  await bru.sleep(500)
  bru.runner.setNextRequest(req.getName())
}
