package memory

import (
	"fmt"
	"regexp"
	"strings"
)

// Shared is how the names of banks begin that every project on a machine shares. Other banks belong to a project folder.
const Shared = "shared:"

// NamePattern is the regular expression of the names of banks.
const NamePattern = `^(shared:)?[a-z0-9][a-z0-9_-]{0,63}$`

var isName = regexp.MustCompile(NamePattern).MatchString

// CheckName returns what is wrong with the name of a bank.
func CheckName(name string) error {
	if !isName(name) {
		return fmt.Errorf("%q is no name of a bank: it has 1 to 64 lower-case letters, digits, - and _, and begins with a letter or a digit; a bank that all projects share has %s before its name", name, Shared)
	}
	return nil
}

// Split returns the name of a bank without the prefix, and whether every project shares it.
func Split(name string) (rest string, shared bool) { return strings.CutPrefix(name, Shared) }
