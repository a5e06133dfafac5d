# Prints the targets of a Makefile that carry a `## ` comment, under their `##@ ` headings.
BEGIN { FS = ":.*## "; print "make <target>" }
/^##@ / { printf "\n%s\n", substr($0, 5) }
/^[a-z][a-z-]*:.*## / { printf "  %-13s %s\n", $1, $2 }
