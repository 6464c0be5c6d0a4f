package echo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Key is the place of an entry in a run, as a path: the visit to a phase, the branches below it, attempt, turn, and what was
// done there. It follows from the structure of the run alone, so that the same run has the same keys whenever it is run, and
// it tells the effects of a run apart.
//
//	draft~2/item17/sounding2/attempt1/turn3/tool2
//
// A key is a comparable value that is made by the functions and methods here, prints with String, and is read with
// [ParseKey]: what is in it, [Key.Path] says. The zero Key is no place, and prints as "".
type Key struct{ text string }

// Path is what a key consists of. A key has a Scope or a Phase, never both.
type Path struct {
	Scope    Scope
	Phase    string
	Visit    int    // from 1: how often the phase has begun
	Branches []Step // below the visit, the outermost first
	Attempt  int    // from 1; 0: before the first
	Turn     int    // from 1; 0: before the first of the attempt
	Effect   []Step // what was done there, and for what: validate:fair, model2
}

// Scope is where something was done that belongs to no phase.
type Scope string

// The scopes.
const (
	ScopeRun   Scope = "run"
	ScopeCards Scope = "cards" // in the background, see [Entry.Background]
)

// Step is a part of a path. It has a number or a name, or neither.
type Step struct {
	Kind   StepKind
	Number int // from 1; 0: there is none
	Name   string
}

// StepKind is a lower-case word.
type StepKind string

// The kinds of branches.
const (
	StepSounding StepKind = "sounding" // numbered: one of several tries
	StepReforge  StepKind = "reforge"  // numbered: a step of refinement
	StepItem     StepKind = "item"     // numbered: an element of a list
	StepChild    StepKind = "child"    // named: another cascade
)

// The kinds of what is done at a place.
const (
	StepStart    StepKind = "start"
	StepEnd      StepKind = "end"
	StepResume   StepKind = "resume"
	StepRoute    StepKind = "route"
	StepRouting  StepKind = "routing"
	StepHandoff  StepKind = "handoff"
	StepFacts    StepKind = "facts" // named: what is known of a model
	StepState    StepKind = "state" // named
	StepCallout  StepKind = "callout"
	StepTemplate StepKind = "template" // named: a field of the cascade
	StepModel    StepKind = "model"
	StepContext  StepKind = "context"
	StepTool     StepKind = "tool"
	StepValidate StepKind = "validate" // named: a validator at work
	StepVerdict  StepKind = "verdict"  // named: what a validator said
	StepSelect   StepKind = "select"   // of messages of earlier phases
	StepCards    StepKind = "cards"    // what was found in cards
	StepMeaning  StepKind = "meaning"  // a comparison of embeddings
	StepCompact  StepKind = "compact"  // a summary of older messages
	StepRecount  StepKind = "recount"  // an exact count by the provider
	StepSummary  StepKind = "summary"  // the message that stands for older ones
	StepGuard    StepKind = "guard"
	StepClock    StepKind = "clock"
	StepBeside   StepKind = "beside" // what background calls took
	StepIdle     StepKind = "idle"
	StepFigures  StepKind = "figures" // of an endpoint
	StepWarning  StepKind = "warning"
	StepCall     StepKind = "call"  // a background model call
	StepEmbed    StepKind = "embed" // a background request for embeddings

	// Messages that the engine adds to a history.
	StepSystem  StepKind = "system"
	StepTask    StepKind = "task"
	StepRetry   StepKind = "retry"
	StepPrompt  StepKind = "prompt"
	StepNotice  StepKind = "notice"
	StepRepeat  StepKind = "repeat"
	StepResumed StepKind = "resumed"
)

// named are the kinds that are followed by a name.
var named = map[StepKind]bool{
	StepChild: true, StepFacts: true, StepState: true, StepCallout: true, StepTemplate: true, StepValidate: true, StepVerdict: true,
}

// branches are the kinds of branches below a visit.
var branches = map[StepKind]bool{StepSounding: true, StepReforge: true, StepItem: true, StepChild: true}

// The words that stand for attempt and turn.
const (
	wordAttempt = "attempt"
	wordTurn    = "turn"
)

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
	return Key{k.text + "/" + wordAttempt + strconv.Itoa(n)}
}

// Turn returns the place of a turn below an attempt, k itself for turn 0.
func (k Key) Turn(n int) Key {
	if n <= 0 {
		return k
	}
	return Key{k.text + "/" + wordTurn + strconv.Itoa(n)}
}

// Step returns the place of something that is done at k, or of a branch below k. A kind that has names gets an empty one.
func (k Key) Step(kind StepKind) Key {
	if named[kind] {
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

// MustKey is [ParseKey] for keys that stand in code: it panics when the text is no key.
func MustKey(text string) Key {
	k, err := ParseKey(text)
	if err != nil {
		panic("echo: " + err.Error())
	}
	return k
}

// Path returns what the key consists of; the zero Path for the zero Key.
func (k Key) Path() Path {
	if k.text == "" {
		return Path{}
	}
	p, err := parsePath(k.text)
	if err != nil {
		panic("echo: a key that was not made here: " + err.Error())
	}
	return p
}

// Key returns the key of the path.
func (p *Path) Key() Key {
	k := Key{string(p.Scope)}
	if p.Scope == "" {
		k = PhaseKey(p.Phase, p.Visit)
	}
	for _, s := range p.Branches {
		k = k.with(s)
	}
	k = k.Attempt(p.Attempt).Turn(p.Turn)
	for _, s := range p.Effect {
		k = k.with(s)
	}
	return k
}

func (k Key) with(s Step) Key {
	if named[s.Kind] {
		return k.Named(s.Kind, s.Name)
	}
	return k.Numbered(s.Kind, s.Number)
}

// Last returns the last step of what was done, the zero Step when nothing was.
func (p *Path) Last() Step {
	if n := len(p.Effect); n > 0 {
		return p.Effect[n-1]
	}
	return Step{}
}

// InTurn returns the step of something that belongs to a turn itself, such as model or tool2; the zero Step for what is done
// beside it, such as the call of a validator.
func (p *Path) InTurn() Step {
	if p.Turn == 0 || len(p.Effect) != 1 {
		return Step{}
	}
	return p.Effect[0]
}

// VisitKey returns the key of the visit that k belongs to, or of its scope.
func (k Key) VisitKey() Key {
	head, _, _ := strings.Cut(k.text, "/")
	return Key{head}
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
	return kind == StepClock || kind == StepBeside
}

// From returns k without the parent that it is under, for people who see the parent beside it; all of k when it is not.
func (k Key) From(parent Key) string {
	if rest, ok := strings.CutPrefix(k.text, parent.text+"/"); ok && parent.text != "" {
		return rest
	}
	return k.text
}

// ModelKey returns the key of the model call that the selection with key k is for; k itself when it is no selection's.
func (k Key) ModelKey() Key {
	p := k.Path()
	if p.InTurn().Kind != StepContext {
		return k
	}
	p.Effect[0].Kind = StepModel
	return p.Key()
}

// Branch returns the branch of the run that k belongs to. Entries of one branch have an order, and branches have none among
// each other. The trunk of a run is the zero Key; below it are the branches of visits, and each numbered tool call of a turn.
func (k Key) Branch() Key {
	p := k.Path()
	return p.Branch()
}

// Branch is [Key.Branch] of the path's key.
func (p *Path) Branch() Key {
	b := *p
	if e := p.Effect; len(e) > 0 && e[0].Kind == StepTool && e[0].Number > 0 {
		b.Effect = e[:1]
		return b.Key()
	}
	if n := len(p.Branches); n > 0 && p.isBranchMark() {
		b.Branches = p.Branches[:n-1]
	}
	if len(b.Branches) == 0 {
		return Key{}
	}
	b.Attempt, b.Turn, b.Effect = 0, 0, nil
	return b.Key()
}

// isBranchMark reports whether the path is that of the start or the end of a branch, which are in the one it grows from.
func (p *Path) isBranchMark() bool {
	return p.Attempt == 0 && len(p.Effect) == 1 && (p.Effect[0].Kind == StepStart || p.Effect[0].Kind == StepEnd)
}

// ParentBranch returns the branch that the branch k grows from. That of the trunk is the trunk.
func (k Key) ParentBranch() Key {
	if k.text == "" {
		return Key{}
	}
	p := k.Path()
	if len(p.Effect) > 0 {
		p.Effect = nil
	} else if n := len(p.Branches); n > 0 {
		p.Branches = p.Branches[:n-1]
	}
	return p.Key().Branch()
}

// CompareKeys sorts keys by their structure: what is done for all of a place before what is done in a part of it, and
// numbers by their size.
func CompareKeys(a, b Key) int {
	as, bs := strings.Split(a.text, "/"), strings.Split(b.text, "/")
	for i := range min(len(as), len(bs)) {
		if c := compareParts(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func compareParts(a, b string) int {
	aw, an := cutNumber(a)
	bw, bn := cutNumber(b)
	return cmp.Or(cmp.Compare(aw, bw), cmp.Compare(len(an), len(bn)), cmp.Compare(an, bn))
}

// cutNumber splits a part into what comes before its number and the number, which may be empty.
func cutNumber(part string) (word, number string) {
	i := len(part)
	for i > 0 && part[i-1] >= '0' && part[i-1] <= '9' {
		i--
	}
	return part[:i], part[i:]
}

// parsePath reads a path. What it reads and String would write otherwise is found by who compares the two.
func parsePath(text string) (p Path, err error) {
	rest := strings.Split(text, "/")
	if err := p.readHead(rest[0]); err != nil {
		return p, err
	}
	for rest = rest[1:]; len(rest) > 0; {
		var s Step
		if s, rest, err = readStep(rest); err != nil {
			return p, err
		}
		if err := p.add(s); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *Path) readHead(part string) error {
	if part == string(ScopeRun) || part == string(ScopeCards) {
		p.Scope = Scope(part)
		return nil
	}
	name, visit, again := strings.Cut(part, "~")
	p.Visit = 1
	if again {
		n, err := readNumber(visit)
		if err != nil {
			return fmt.Errorf("visit: %w", err)
		}
		p.Visit = n
	}
	var err error
	p.Phase, err = unescaped(name)
	return err
}

// add appends a step where it belongs.
func (p *Path) add(s Step) error {
	below := p.Scope == "" && p.Turn == 0 && len(p.Effect) == 0
	switch {
	case s.Kind == wordTurn && below && p.Attempt > 0 && s.Number > 0:
		p.Turn = s.Number
	case s.Kind == wordAttempt && below && p.Attempt == 0 && s.Number > 0:
		p.Attempt = s.Number
	case branches[s.Kind] && below && p.Attempt == 0:
		if s.Number == 0 && !named[s.Kind] {
			return fmt.Errorf("%s has no number", s.Kind)
		}
		p.Branches = append(p.Branches, s)
	case s.Kind == wordTurn, s.Kind == wordAttempt, branches[s.Kind]:
		return fmt.Errorf("%s stands where it cannot", s.Kind)
	default:
		p.Effect = append(p.Effect, s)
	}
	return nil
}

// readStep reads the first step of some parts, and returns the others.
func readStep(parts []string) (s Step, rest []string, err error) {
	word, number := cutNumber(parts[0])
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return s, nil, fmt.Errorf("%q is no step", parts[0])
	}
	s.Kind = StepKind(word)
	if !named[s.Kind] {
		if number != "" {
			s.Number, err = readNumber(number)
		}
		return s, parts[1:], err
	}
	if number != "" || len(parts) < 2 {
		return s, nil, fmt.Errorf("%q has no name after it", parts[0])
	}
	s.Name, err = unescaped(parts[1])
	return s, parts[2:], err
}

// maxNumber is above what any number in a key can be.
const maxNumber = 1 << 31

func readNumber(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || n >= maxNumber {
		return 0, fmt.Errorf("%q is no number from 1", text)
	}
	return int(n), nil
}

// emptyName stands for a name without characters: an escape that no character has.
const emptyName = "%"

// escaped writes a name as one part of a key: slashes, percent signs, control characters and what is no UTF-8 become a
// percent sign and two hexadecimal digits, in the name of a phase the tilde too.
func escaped(name string, phase bool) string {
	if name == "" {
		return emptyName
	}
	if !slices.ContainsFunc([]byte(name), func(c byte) bool { return mustEscape(c, phase) }) && utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 || size == 1 && mustEscape(name[i], phase) {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func mustEscape(c byte, phase bool) bool {
	return c == '/' || c == '%' || c < ' ' || c == 0x7f || phase && c == '~'
}

func unescaped(part string) (string, error) {
	if part == emptyName {
		return "", nil
	}
	if part == "" {
		return "", fmt.Errorf("a part is empty")
	}
	if !strings.Contains(part, "%") {
		return part, nil
	}
	b := make([]byte, 0, len(part))
	for i := 0; i < len(part); i++ {
		if part[i] != '%' {
			b = append(b, part[i])
			continue
		}
		if i+2 >= len(part) {
			return "", fmt.Errorf("%q ends within an escape", part)
		}
		n, err := strconv.ParseUint(part[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q has an escape without two hexadecimal digits", part)
		}
		b = append(b, byte(n))
		i += 2
	}
	return string(b), nil
}
