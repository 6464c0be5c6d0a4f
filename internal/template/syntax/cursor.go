package syntax

import (
	"maps"
	"slices"
)

// cursor goes over tokens. The last one is a kindEnd, which is never passed.
type cursor struct {
	list []token
	at   int
}

func (c *cursor) peek() *token { return &c.list[c.at] }

func (c *cursor) next() *token {
	t := c.peek()
	if t.kind != kindEnd {
		c.at++
	}
	return t
}

func (c *cursor) is(k kind, text string) bool { return c.peek().kind == k && c.peek().text == text }

func (c *cursor) accept(k kind, text string) bool {
	if !c.is(k, text) {
		return false
	}
	c.at++
	return true
}

// expect goes over the sign that must come next.
func (c *cursor) expect(sign string) {
	if !c.accept(kindSign, sign) {
		c.peek().fail("'%s' expected here, found %q", sign, c.peek().text)
	}
}

// name reads a name that the template binds. Without one the error says what to write.
func (c *cursor) name(write string) string {
	t := c.next()
	if t.kind != kindWord || reserved(t.text) {
		t.fail("%s", write)
	}
	if _, ok := constantOf(t.text); ok {
		t.fail("%q is a constant and cannot be a name", t.text)
	}
	return t.text
}

// reserved reports whether a word is part of the language.
func reserved(word string) bool {
	return slices.Contains([]string{"and", "or", "not", "in", "is", "if", "else"}, word)
}

// constantOf returns the value of a word that is one in itself.
func constantOf(word string) (any, bool) {
	switch word {
	case "none", "None", "null", "nil":
		return nil, true
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	}
	return nil, false
}

type scopes struct {
	list  []scope
	roots map[string]struct{} // the names that were mentioned where nothing had bound them
}

type scope struct {
	names map[string]bool
	loop  *bool // of the body of a for tag: whether it mentions loop
}

func newScopes() *scopes {
	s := &scopes{roots: map[string]struct{}{}}
	s.push()
	return s
}

func (s *scopes) push(names ...string) {
	s.list = append(s.list, scope{names: map[string]bool{}})
	for _, n := range names {
		s.bind(n)
	}
}

func (s *scopes) pop() { s.list = s.list[:len(s.list)-1] }

func (s *scopes) top() *scope { return &s.list[len(s.list)-1] }

func (s *scopes) bind(name string) { s.top().names[name] = true }

func (s *scopes) bound(name string) bool {
	return slices.ContainsFunc(s.list, func(sc scope) bool { return sc.names[name] })
}

func (s *scopes) mention(name string) {
	for _, sc := range slices.Backward(s.list) {
		switch {
		case sc.names[name]:
			return
		case name == "loop" && sc.loop != nil:
			*sc.loop = true
			return
		}
	}
	s.roots[name] = struct{}{}
}

// callable returns the names that are bound, for hints.
func (s *scopes) callable(functions []string) []string {
	names := slices.Clone(functions)
	for _, sc := range s.list {
		names = slices.AppendSeq(names, maps.Keys(sc.names))
	}
	return names
}
