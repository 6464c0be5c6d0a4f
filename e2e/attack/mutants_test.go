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

var (
	secretsMutant = mutant{"the removal of secrets from texts", []lab.Edit{{
		File: "internal/secret/secret.go", // what a tool returned is cleaned again before it is recorded
		Old:  "\tout, _ := s.replace(text, true)\n\treturn out\n",
		New:  "\treturn text\n",
	}}}
	sqlMutant = mutant{"the look at statements of people", []lab.Edit{{
		File: "internal/clickhouse/query.go",
		Old:  "Embedded: db.endpoint != nil}, st); err != nil {",
		New:  "Embedded: db.endpoint != nil}, st); false {",
	}}}
	sqlQueryMutant = mutant{"the look at statements of models", []lab.Edit{{
		File: "internal/clickhouse/reader.go",
		Old:  "return check(inner, r.conn, r.guard, st)",
		New:  "_ = check(inner, r.conn, r.guard, st)\n\treturn nil",
	}}}
	endpointsMutant = mutant{"the range in which a figure is believed", []lab.Edit{{
		File: "internal/llm/usage.go",
		Old:  "if !isNumber || err != nil || x < 0 || x > most {",
		New:  "if !isNumber || err != nil {",
	}}}
)
