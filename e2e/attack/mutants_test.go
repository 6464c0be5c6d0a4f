//go:build unix

package attack

import "github.com/windlass-run/windlass/e2e/lab"

// The mutants whose text is longer than a line or two.
var (
	protectedMutant = mutant{"the refusal of files of .git", []lab.Edit{{
		File: "internal/tool/write.go",
		Old:  `func isGit(name string) bool { return strings.EqualFold(name, ".git") }`,
		New:  `func isGit(name string) bool { return false && strings.EqualFold(name, ".git") }`,
	}}}
	gitMutant = mutant{"the setting that turns watchers off", []lab.Edit{{
		File: "internal/git/git.go",
		Old:  "\"-c\", \"core.fsmonitor=false\", // it may name a program\n",
		New:  "",
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
