package texts

import "strings"

// LeavesOut reports whether the text of a condition leaves out what it stands at.
func LeavesOut(condition string) bool {
	switch strings.ToLower(strings.TrimSpace(condition)) {
	case "", "false", "0", "none", "null":
		return true
	}
	return false
}
