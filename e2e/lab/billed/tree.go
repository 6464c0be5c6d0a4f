//go:build unix

package billed

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
)

// Session is one run of a tree, as its journal has it.
type Session struct {
	*journal.Recording
	Path     string // of keys, from the root: "" is the root itself
	Parent   *Session
	Children []*Session
}

// Tree is a run with its children and theirs.
type Tree struct {
	Root *Session
	All  []*Session // the root first, then by path
	lost []string   // sessions in the home that are no one's children, and no root
}

// readTree reads the sessions of a home. A journal that had not begun is none.
func readTree(home, root string) (*Tree, error) {
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", journal.File))
	if err != nil {
		return nil, err
	}
	byID := map[string]*Session{}
	for _, path := range paths {
		rec, err := journal.Read(path)
		switch {
		case errors.Is(err, journal.ErrNotBegun):
			continue
		case err != nil:
			return nil, err
		}
		byID[rec.Header.SessionID] = &Session{Recording: rec}
	}
	t := &Tree{Root: byID[root]}
	if t.Root == nil {
		return nil, fmt.Errorf("session %s: %w", root, os.ErrNotExist)
	}
	for id, s := range byID {
		if s == t.Root {
			continue
		}
		if s.Parent = byID[s.Header.ChildOf]; s.Parent == nil {
			t.lost = append(t.lost, id)
			continue
		}
		s.Parent.Children = append(s.Parent.Children, s)
	}
	t.walk(t.Root, "")
	return t, nil
}

func (t *Tree) walk(s *Session, path string) {
	s.Path = path
	t.All = append(t.All, s)
	slices.SortFunc(s.Children, func(a, b *Session) int {
		return cmp.Compare(a.Header.ChildKey.String(), b.Header.ChildKey.String())
	})
	for _, c := range s.Children {
		at := c.Header.ChildKey.String()
		if path != "" {
			at = path + " > " + at
		}
		t.walk(c, at)
	}
}

// Statuses returns how each child ended, by its path.
func (t *Tree) Statuses() map[string]string {
	out := map[string]string{}
	for _, s := range t.All[1:] {
		out[s.Path] = record.EndOf(s.Entries).Status.String()
	}
	return out
}

// Failures returns what tools have failed at.
func (t *Tree) Failures() error {
	var errs []error
	for _, s := range t.All {
		for _, e := range s.Entries {
			if e.NodeType == echo.NodeToolCall && e.Error != nil {
				errs = append(errs, fmt.Errorf("session %q: %s failed: %s", s.Path, e.Key, e.Error.Message))
			}
		}
	}
	return errors.Join(errs...)
}

var answerNumber = regexp.MustCompile(`^m(\d+)-`)

// Recorded returns the numbers of the answers that the tree has, and what they cost. An answer that is there twice is an
// error.
func (t *Tree) Recorded() (numbers map[int]bool, usd float64, err error) {
	numbers = map[int]bool{}
	for _, s := range t.All {
		for _, e := range s.Entries {
			call, wrong := echo.Read[echo.ModelCall](e)
			if wrong != nil || e.NodeType != echo.NodeModelCall {
				continue
			}
			if e.CostUSD != nil {
				usd += *e.CostUSD
			}
			m := answerNumber.FindStringSubmatch(call.Model)
			if m == nil {
				continue // a failure
			}
			n, _ := strconv.Atoi(m[1]) // the pattern has digits
			if numbers[n] {
				err = errors.Join(err, fmt.Errorf("answer %d is recorded twice, at last in %s (%s)", n, s.Header.SessionID, e.Key))
			}
			numbers[n] = true
		}
	}
	return numbers, usd, err
}

// doublings returns the entries that a session has twice, of those that count.
func (s *Session) doublings() []string {
	var twice []string
	seen := map[string]bool{}
	for i, e := range s.Entries {
		if e.Seq != uint64(i+1) {
			twice = append(twice, fmt.Sprintf("entry %d has the number %d", i+1, e.Seq))
		}
	}
	for _, e := range record.Counted(s.Entries) {
		if isOfProcess(e) {
			continue
		}
		at := string(e.NodeType) + " " + e.Key.String()
		if c, err := echo.Read[echo.Candidate](e); err == nil && c.Mutation != nil && c.Mutation.Text != "" {
			at += " rewritten" // it is there without the text, too
		}
		if seen[at] {
			twice = append(twice, at)
		}
		seen[at] = true
	}
	return twice
}

// isOfProcess reports whether an entry depends on the process that made it, and not on the run alone.
func isOfProcess(e *echo.Entry) bool {
	switch e.NodeType { //nolint:exhaustive // the others are the run's
	case echo.NodeResume, echo.NodeWarning, echo.NodeState, echo.NodeRoute, echo.NodeCallout: // several may have one key
		return true
	case echo.NodeValue:
		p := e.Key.Path()
		return p.Last().Kind == echo.StepIdle || p.Last().Kind == echo.StepClock || p.Last().Kind == echo.StepBackground
	}
	return false
}

// Shape returns what a tree has recorded, whatever order its branches had: how often each entry is there.
func (t *Tree) Shape() map[string]int {
	out := map[string]int{}
	for _, s := range t.All {
		for _, e := range record.Counted(s.Entries) {
			if !isOfProcess(e) {
				out[s.Path+" | "+string(e.NodeType)+" "+s.plainKey(e)]++
			}
		}
	}
	return out
}

// plainKey returns the key of an entry, with the path of a child in place of the child's id.
func (s *Session) plainKey(e *echo.Entry) string {
	key := e.Key.String()
	for _, c := range s.Children {
		key = strings.ReplaceAll(key, c.Header.SessionID, c.Path)
	}
	return key
}

// Agree returns where parents and children do not agree, and where sums are not the sums of their parts. A tree whose
// root has not ended may have children without an end.
func (t *Tree) Agree() error {
	var errs []error
	wrong := func(s *Session, format string, args ...any) {
		errs = append(errs, fmt.Errorf("session %q (%s): %s", s.Path, s.Header.SessionID, fmt.Sprintf(format, args...)))
	}
	for _, id := range t.lost {
		errs = append(errs, fmt.Errorf("session %s is nobody's child", id))
	}
	for _, s := range t.All {
		for _, twice := range s.doublings() {
			wrong(s, "is there twice: %s", twice)
		}
		if err := s.ownSums(); err != nil {
			wrong(s, "%v", err)
		}
		if err := s.links(t.Root); err != nil {
			wrong(s, "%v", err)
		}
	}
	return errors.Join(errs...)
}

// ownSums holds the totals of a run against its calls.
func (s *Session) ownSums() error {
	counted := record.Counted(s.Entries)
	var sum record.Totals
	for _, e := range counted {
		if !e.Background() {
			sum.Add(e)
		}
	}
	for _, e := range counted {
		if e.NodeType != echo.NodeRunEnd || e.Usage == nil || e.CostUSD == nil {
			continue
		}
		if math.Abs(*e.CostUSD-sum.CostUSD) > Cent || e.Usage.In != sum.Usage.In || e.Usage.Out != sum.Usage.Out || e.Usage.Cached != sum.Usage.Cached {
			return fmt.Errorf("run_end says $%.9f and %+v, its calls are $%.9f and %+v", *e.CostUSD, *e.Usage, sum.CostUSD, sum.Usage)
		}
	}
	return nil
}

// Cent is how far two sums of money may be apart, in US dollars.
const Cent = 1e-6

// links holds what a session says of its children against what they say.
func (s *Session) links(root *Session) error {
	var errs []error
	byID := map[string]*Session{}
	for _, c := range s.Children {
		byID[c.Header.SessionID] = c
	}
	starts := map[string]*echo.ChildStart{}
	for _, e := range record.Counted(s.Entries) {
		switch e.NodeType { //nolint:exhaustive // the others are not of children
		case echo.NodeChildStart:
			d, err := echo.Read[echo.ChildStart](e)
			if err != nil {
				return err
			}
			starts[d.Session] = &d
			if c := byID[d.Session]; c != nil {
				errs = append(errs, c.began(s, root, e, &d))
			}
		case echo.NodeChildEnd:
			d, err := echo.Read[echo.ChildEnd](e)
			if err != nil {
				return err
			}
			if starts[d.Session] == nil {
				errs = append(errs, fmt.Errorf("child_end %s without a child_start", e.Key))
			}
			c := byID[d.Session]
			if c == nil && d.Reason != echo.StopInput { // one whose input is refused does not begin
				errs = append(errs, fmt.Errorf("child %s (%s) has ended, and has no journal", d.Session, e.Key))
			}
			if c == nil {
				continue
			}
			if start := starts[d.Session]; start != nil && !start.Detach {
				errs = append(errs, c.ended(e, &d))
			}
		}
	}
	for id, c := range byID {
		if starts[id] == nil {
			errs = append(errs, fmt.Errorf("the child %s (%s) was never begun by its parent", id, c.Header.ChildKey))
		}
	}
	return errors.Join(errs...)
}

// began holds a child's header against what its parent has recorded.
func (s *Session) began(parent, root *Session, e *echo.Entry, d *echo.ChildStart) error {
	h := &s.Header
	switch {
	case h.ChildOf != parent.Header.SessionID, h.ChildKey != e.Key, h.Root != root.Header.SessionID, h.Depth != parent.Header.Depth+1:
		return fmt.Errorf("the header of %s says child_of %s, key %s, root %s, depth %d; its parent %s began it at %s",
			h.SessionID, h.ChildOf, h.ChildKey, h.Root, h.Depth, parent.Header.SessionID, e.Key)
	case len(s.Entries) == 0:
		return nil
	}
	start, err := echo.Read[echo.RunStart](s.Entries[0])
	if err != nil {
		return err
	}
	if len(d.Input)+len(start.Input) > 0 && !reflect.DeepEqual(start.Input, d.Input) {
		return fmt.Errorf("the child %s has the input %v, its parent gave %v", h.SessionID, start.Input, d.Input)
	}
	return nil
}

// ended holds the end of a child against what its parent has recorded.
func (s *Session) ended(e *echo.Entry, d *echo.ChildEnd) error {
	counted := record.Counted(s.Entries)
	end := record.EndOf(counted)
	if end.Status != d.Status || end.Reason != d.Reason || end.Status.IsSuccess() && echo.AsText(end.Output) != echo.AsText(d.Output) {
		return fmt.Errorf("child %s ended %s (%s) with %q, its parent has %s (%s) with %q", s.Header.SessionID,
			end.Status, end.Reason, echo.AsText(end.Output), d.Status, d.Reason, echo.AsText(d.Output))
	}
	sum := s.WithChildren()
	if e.CostUSD == nil || e.Usage == nil {
		if sum.UnknownCosts == 0 {
			return fmt.Errorf("child_end %s has no totals", e.Key)
		}
		return nil
	}
	if math.Abs(*e.CostUSD-sum.CostUSD) > Cent || e.Usage.In != sum.Usage.In || e.Usage.Out != sum.Usage.Out || e.Usage.Cached != sum.Usage.Cached || d.Calls != s.calls() {
		return fmt.Errorf("child_end %s says $%.9f, %+v in %d calls; the child and its children took $%.9f, %+v in %d calls",
			e.Key, *e.CostUSD, *e.Usage, d.Calls, sum.CostUSD, sum.Usage, s.calls())
	}
	return nil
}

// calls returns how many model calls a session says that it and its children have made.
func (s *Session) calls() int {
	n := 0
	for _, e := range record.Counted(s.Entries) {
		switch e.NodeType { //nolint:exhaustive // the others have no totals of a run
		case echo.NodeRunEnd:
			d, _ := echo.Read[echo.RunEnd](e) // it was read before
			n += d.Calls
		case echo.NodeChildEnd:
			d, _ := echo.Read[echo.ChildEnd](e) // likewise
			n += d.Calls
		}
	}
	return n
}

// WithChildren returns what a session and everything below it took, the calls that were set aside excepted. A child that
// was left to itself is not of its parent.
func (s *Session) WithChildren() record.Totals {
	var sum record.Totals
	detached := map[string]bool{}
	for _, e := range record.Counted(s.Entries) {
		if !e.Background() {
			sum.Add(e)
		}
		if d, err := echo.Read[echo.ChildStart](e); err == nil && e.NodeType == echo.NodeChildStart {
			detached[d.Session] = d.Detach
		}
	}
	for _, c := range s.Children {
		if !detached[c.Header.SessionID] {
			sum = sum.Plus(c.WithChildren())
		}
	}
	return sum
}
