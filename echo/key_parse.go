package echo

import (
	"fmt"
	"strconv"
	"strings"
)

// parsePath reads a path, also one that [Path.Key] would write otherwise.
func parsePath(text string) (p Path, err error) {
	head, rest, more := strings.Cut(text, "/")
	if err := p.readHead(head); err != nil {
		return p, err
	}
	for more {
		var s Step
		if s, rest, more, err = readStep(rest); err != nil {
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
	ofRun := p.Scope == ScopeRun && len(p.Effect) == 0 && (s.Kind == StepSounding || s.Kind == StepReforge) // of the whole cascade
	switch {
	case s.Kind == wordTurn && below && p.Attempt > 0 && s.Number > 0:
		p.Turn = s.Number
	case s.Kind == wordAttempt && below && p.Attempt == 0 && s.Number > 0:
		p.Attempt = s.Number
	case s.Kind.isBranch() && (below || ofRun) && p.Attempt == 0:
		if s.Number == 0 && !s.Kind.isNamed() {
			return fmt.Errorf("%s has no number", s.Kind)
		}
		p.Branches = append(p.Branches, s)
	case s.Kind == wordTurn, s.Kind == wordAttempt, s.Kind.isBranch():
		return fmt.Errorf("%s stands where it cannot", s.Kind)
	default:
		p.Effect = append(p.Effect, s)
	}
	return nil
}

// readStep reads the first step of a text, and returns the rest; more is false when there is none.
func readStep(text string) (s Step, rest string, more bool, err error) {
	part, rest, more := strings.Cut(text, "/")
	word, number := cutNumber(part)
	if !isWord(word) {
		return s, "", false, fmt.Errorf("%q is no step", part)
	}
	s.Kind = StepKind(word)
	if !s.Kind.isNamed() {
		if number != "" {
			s.Number, err = readNumber(number)
		}
		return s, rest, more, err
	}
	if number != "" || !more {
		return s, "", false, fmt.Errorf("%q has no name after it", part)
	}
	name, rest, more := strings.Cut(rest, "/")
	s.Name, err = unescaped(name)
	return s, rest, more, err
}

// cutNumber splits a part into a word and the number that it ends with, which may be empty.
func cutNumber(part string) (word, number string) {
	at := len(part)
	for at > 0 && part[at-1] >= '0' && part[at-1] <= '9' {
		at--
	}
	return part[:at], part[at:]
}

func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
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
