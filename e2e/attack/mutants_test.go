//go:build unix

package attack

import "github.com/windlass-run/windlass/e2e/lab"

// The mutants whose text is longer than a line or two.
var (
	protectedMutant = mutant{"the table of protected files", []lab.Edit{{
		File: "internal/protection/protection.go",
		Old:  "if slices.ContainsFunc(row.patterns, protects) {",
		New:  "if false && slices.ContainsFunc(row.patterns, protects) {",
	}}}
	gitMutant = mutant{"the stand-in for the repository's configuration", []lab.Edit{{
		File: "internal/git/standin.go",
		Old:  "\tif path := excludesFile(excludes); path != \"\" {\n",
		New: "\tfmt.Fprintf(&b, \"[include]\\n\\tpath = %s\\n\", quoted(filepath.Join(s.repo.common, \"config\")))\n" +
			"\tif path := excludesFile(excludes); path != \"\" {\n",
	}}}
)

// secretsMutant is a variable of its own, as is each of those below.
var secretsMutant = mutant{"the removal of secrets from results", []lab.Edit{{
	File: "internal/tool/tool.go",
	Old:  "return r.secrets.result(res), nil",
	New:  "return res, nil",
}}}

var (
	sqlMutant      = mutant{"", nil}
	sqlQueryMutant = mutant{"", nil}
)

var endpointsMutant = mutant{"the refusal of redirects", nil}
