# A run of tests for people: a line a file, and for one that fails what failed, with its diagnosis.
#
# Reads TAP as tap writes it: files at the margin, their assertions indented beneath, a diagnosis in YAML after
# each that fails. A subtest that fails because of an assertion in it ends in its time: it is no news.
BEGIN { LINES_MAX = 40 }

/^ *---$/ { inside = 1 }
/^ *not ok / && !/# time=/ { told = told "\n" $0; lines = 0; telling = 1; next }
telling && inside && lines++ < LINES_MAX { told = told "\n" $0 }
/^ *\.\.\.$/ { inside = 0; telling = 0 }

/^ok [0-9]+ - / { print "  pass  " file($0) }
/^not ok [0-9]+ - / {
  print "  FAIL  " file($0) told
  # Nothing in it failed: it ended badly, and its own diagnosis says how.
  if (told == "") telling = ends = 1
  lines = 0
}
/^(not )?ok / { if (!ends) telling = 0; told = "" }
ends && /^  \.\.\.$/ { print told; told = ""; ends = 0 }
{ fflush() }

function file(line) {
  sub(/^(not )?ok [0-9]+ - (\.build\/)?/, "", line)
  sub(/ # time=/, "  ", line)
  return line
}
