package memory

import (
	"path"
	"strings"
)

// MaxProject is how much of a file of the project folder stands in the system prompt, in bytes. Of a longer one its headings do.
const MaxProject = 16 << 10

// CheckProjectFile says why a path is none of a file below the project folder; "" when it is one.
func CheckProjectFile(name string) (problem string) {
	switch {
	case path.IsAbs(name) || strings.HasPrefix(name, `\`) || len(name) > 1 && name[1] == ':':
		return "is an absolute path"
	case strings.ContainsAny(name, "\\\x00"):
		return "has a backslash or a NUL character in it"
	}
	switch clean := path.Clean(name); {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "leads out of the project folder"
	case clean == "." || strings.HasSuffix(name, "/"):
		return "is a folder"
	case clean != name:
		return "is not written in the shortest way, as " + clean
	}
	return ""
}
