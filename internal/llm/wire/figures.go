package wire

// Figures calls figure for each member of an object, and for those of the objects in it that nested
// is true for, with their object's name; figure reports whether it knows what to do with the value.
// It reports false, maybe after some calls, for what only encoding/json can be trusted with.
func Figures(raw []byte, nested func(object string) bool, figure func(object, name, value []byte) bool) bool {
	s := scanner{b: raw}
	return s.object(func(key []byte) bool {
		switch {
		case hasUpper(key):
			return false
		case nested(string(key)):
			return s.null() || s.object(func(name []byte) bool { return !hasUpper(name) && s.figure(key, name, figure) })
		}
		return s.figure(nil, key, figure)
	}) && s.ended()
}

func (s *scanner) figure(object, name []byte, figure func(object, name, value []byte) bool) bool {
	value, ok := s.value()
	return ok && figure(object, name, value)
}

func hasUpper(key []byte) bool {
	for _, c := range key {
		if c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}
