package echo

import (
	"fmt"
	"strconv"
	"strings"
)

// Key is an entry's place in a run, which follows from the run's structure alone: the visit to a
// phase, branches below it, attempt, turn, and what was done there.
//
//	draft~2/item17/sounding2/attempt1/turn3/tool2
//
// Keys are comparable, and have their parts in [Key.Path]. The zero Key is no place, and prints as
// "".
type Key struct{ text string }

// RunKey is the place of the run itself.
func RunKey() Key { return Key{string(ScopeRun)} }

// CardsKey is the place of what is done in the background, to make cards.
func CardsKey() Key { return Key{string(ScopeCards)} }

// PhaseKey is the place of a visit to a phase; visits count from 1.
func PhaseKey(phase string, visit int) Key {
	text := escaped(phase, true)
	if visit > 1 || text == string(ScopeRun) || text == string(ScopeCards) {
		text += "~" + strconv.Itoa(visit)
	}
	return Key{text}
}

// Attempt returns the place of an attempt below a visit or a branch, k itself for attempt 0.
func (k Key) Attempt(n int) Key {
	if n <= 0 {
		return k
	}
	return k.Numbered(wordAttempt, n)
}

// Turn returns the place of a turn below an attempt, k itself for turn 0.
func (k Key) Turn(n int) Key {
	if n <= 0 {
		return k
	}
	return k.Numbered(wordTurn, n)
}

// Step returns what is done at k, or a branch below it; a kind with names gets an empty one.
func (k Key) Step(kind StepKind) Key {
	if kind.isNamed() {
		return k.Named(kind, "")
	}
	return Key{k.text + "/" + string(kind)}
}

// Numbered is [Key.Step] with a number, from 1; without one for 0.
func (k Key) Numbered(kind StepKind, n int) Key {
	if n <= 0 {
		return k.Step(kind)
	}
	return Key{k.text + "/" + string(kind) + strconv.Itoa(n)}
}

// Try is [Key.Step] for the first of several, and [Key.Numbered] for the others.
func (k Key) Try(kind StepKind, n int) Key {
	if n <= 1 {
		return k.Step(kind)
	}
	return k.Numbered(kind, n)
}

// Named is [Key.Step] with a name, which may be any text.
func (k Key) Named(kind StepKind, name string) Key {
	return Key{k.text + "/" + string(kind) + "/" + escaped(name, false)}
}

// String returns the key as it is written: its parts with slashes between them.
func (k Key) String() string { return k.text }

// IsZero reports whether the key is no place.
func (k Key) IsZero() bool { return k.text == "" }

// MarshalText writes the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.text), nil }

// UnmarshalText reads a key; "" is the zero Key.
func (k *Key) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*k = Key{}
		return nil
	}
	*k, err = ParseKey(string(text))
	return err
}

// ParseKey reads a key. It accepts what String writes and nothing else.
func ParseKey(text string) (Key, error) {
	p, err := parsePath(text)
	if err == nil && p.Key().text != text {
		err = fmt.Errorf("it is written %q", p.Key().text)
	}
	if err != nil {
		return Key{}, fmt.Errorf("%q is no key: %w", text, err)
	}
	return Key{text}, nil
}

// MustKey is [ParseKey] for keys that are written in code: it panics when the text is no key.
func MustKey(text string) Key {
	k, err := ParseKey(text)
	if err != nil {
		panic("echo: " + err.Error())
	}
	return k
}

// VisitKey returns the key of the visit that k belongs to, or of its scope. In a graph the visit is
// that of a node, such as fetch/node2.
func (k Key) VisitKey() Key {
	head, rest, _ := strings.Cut(k.text, "/")
	if !strings.HasPrefix(rest, string(StepNode)) {
		return Key{head}
	}
	part, _, _ := strings.Cut(rest, "/")
	if word, number := cutNumber(part); word != string(StepNode) || number == "" {
		return Key{head}
	}
	return Key{k.text[:len(head)+1+len(part)]}
}

// Place returns the place where something was done: k without what was done there.
func (k Key) Place() Key {
	p := k.Path()
	p.Effect = nil
	return p.Key()
}

// Parent returns k without its last step; a place is its own parent.
func (k Key) Parent() Key {
	p := k.Path()
	p.Effect = p.Effect[:max(len(p.Effect)-1, 0)]
	return p.Key()
}

// Under reports whether k is parent or a place below it.
func (k Key) Under(parent Key) bool {
	rest, ok := strings.CutPrefix(k.text, parent.text)
	return ok && (rest == "" || rest[0] == '/' || parent.text == "")
}

// IsBudgetReading reports whether the key is that of a reading taken for the limits of a budget.
func (k Key) IsBudgetReading() bool {
	p := k.Path()
	kind := p.Last().Kind
	return kind == StepClock || kind == StepBackground
}

// From returns k without the parent that it is under, all of k when it is not under it.
func (k Key) From(parent Key) string {
	if rest, ok := strings.CutPrefix(k.text, parent.text+"/"); ok && parent.text != "" {
		return rest
	}
	return k.text
}

// ModelKey returns the key of the model call that a selection is for, k for any other key.
func (k Key) ModelKey() Key {
	p := k.Path()
	if p.InTurn().Kind != StepContext {
		return k
	}
	p.Effect[0].Kind = StepModel
	return p.Key()
}

// Selects reports whether a key is that of a selection which is for the model call: whether call is
// its [Key.ModelKey] and another key. It makes no key.
func Selects(selection, call Key) bool {
	text := selection.text
	at := strings.LastIndexByte(text, '/') + 1
	if len(call.text) < at || text[:at] != call.text[:at] {
		return false
	}
	word, number := cutNumber(text[at:])
	called, of := cutNumber(call.text[at:])
	return word == string(StepContext) && called == string(StepModel) && number == of && endsInTurn(text[:at])
}

// endsInTurn reports whether the beginning of a key, up to a slash, is that of a turn. A name may be
// like a step, but none is both in a turn and in an attempt.
func endsInTurn(text string) bool {
	is := func(want string) bool {
		text = strings.TrimSuffix(text, "/")
		at := strings.LastIndexByte(text, '/') + 1
		word, number := cutNumber(text[at:])
		text = text[:at]
		return word == want && number != ""
	}
	return is(wordTurn) && is(wordAttempt)
}
