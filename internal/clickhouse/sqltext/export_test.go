package sqltext

// Classified reports whether functions.txt has a name in one of the classes.
func Classified(name string, classes ...string) bool {
	for _, c := range classes {
		if isName(name, nameClass(c)) {
			return true
		}
	}
	return false
}
