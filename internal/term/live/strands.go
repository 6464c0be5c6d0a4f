package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// strands are the branches of a visit that run in parallel: elements of a list, tries, wards.
type strands struct {
	contest contest   // of the visit
	running []*strand // by their numbers
	total   int       // elements of the list; 0: there is none
	done    int
	failed  int
}

// strand is a branch that runs.
type strand struct {
	key     echo.Key
	label   string
	attempt int
	turn    int
	since   time.Time
	doing   doing
	contest contest // of the element
}

// strandOf returns the branch of a visit that a key is in, and what a person calls it; label is "" for
// a key that is in none.
func strandOf(k echo.Key) (key echo.Key, label string, item bool) {
	if k.IsZero() {
		return k, "", false
	}
	p := k.Path()
	if parts := p.Parts(); len(parts) > 0 {
		s := parts[0]
		of := echo.Path{Phase: p.Phase, Visit: p.Visit, Branches: p.Branches[:len(p.Branches)-len(parts)+1]}
		return of.Key(), fmt.Sprintf("%s %d", s.Kind, s.Number), s.Kind == echo.StepItem
	}
	if len(p.Effect) > 0 && p.Effect[0].Kind == echo.StepWard {
		p.Effect = p.Effect[:1]
		return p.Key(), fmt.Sprintf("%s %d", echo.StepWard, p.Effect[0].Number), false
	}
	return echo.Key{}, "", false
}

func (s *strands) at(key echo.Key) int {
	return slices.IndexFunc(s.running, func(r *strand) bool { return r.key == key })
}

// of returns a branch that runs; one that has not run before begins.
func (s *strands) of(key echo.Key, label string, now time.Time) *strand {
	if at := s.at(key); at >= 0 {
		return s.running[at]
	}
	r := &strand{key: key, label: label, since: now}
	at := slices.IndexFunc(s.running, func(other *strand) bool { return other.number() > r.number() })
	if at < 0 {
		at = len(s.running)
	}
	s.running = slices.Insert(s.running, at, r)
	return r
}

func (s *strands) end(key echo.Key) {
	if at := s.at(key); at >= 0 {
		s.running = slices.Delete(s.running, at, at+1)
	}
}

// add takes an entry; false: it is in no branch.
func (s *strands) add(e *echo.Entry, own bool, now time.Time) bool {
	key, label, item := strandOf(e.Key)
	_, _, tried := standsIn(e.Key)
	if tried && !item {
		s.contest.add(e, own, now)
		return true
	}
	if label == "" {
		return false
	}
	if tried {
		s.of(key, label, now).contest.add(e, own, now)
		return true
	}
	switch e.NodeType {
	case echo.NodeBranchStart:
		if item && e.Key.Parent() == key {
			s.total++
		}
	case echo.NodeBranchEnd:
		s.end(key)
	case echo.NodeVerdict:
		if item {
			return true
		}
		s.end(key)
	case echo.NodePhaseEnd:
		if e.Key.Parent() != key {
			return true
		}
		s.end(key)
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Status == echo.StatusCompleted {
			s.done++
		} else {
			s.failed++
		}
	default:
		r := s.of(key, label, now)
		r.doing.add(e, now)
		if e.Attempt > 0 {
			r.attempt, r.turn = e.Attempt, e.Turn
		}
	}
	return true
}

// event takes what has begun; false: it is in no branch.
func (s *strands) event(ev engine.Event, now time.Time) bool {
	key, label, item := strandOf(ev.Key)
	_, _, tried := standsIn(ev.Key)
	if tried && !item {
		s.contest.event(ev, now)
		return true
	}
	if label == "" {
		return false
	}
	r := s.of(key, label, now)
	if tried {
		r.contest.event(ev, now)
		return true
	}
	r.attempt, r.turn = ev.Site.Attempt, ev.Site.Turn
	r.doing.event(ev, now)
	return true
}

// sum says how far a list or several tries have come; "" for none.
func (s *strands) sum() string {
	if s.total == 0 {
		return s.contest.sum()
	}
	running := ""
	if n := len(s.items()); n > 0 {
		running = fmt.Sprintf("%d running", n)
	}
	failed := ""
	if s.failed > 0 {
		failed = fmt.Sprintf("%d failed", s.failed)
	}
	return joined(", ", fmt.Sprintf("%d of %d done", s.done, s.total), running, failed)
}

// items are the elements of the list that run.
func (s *strands) items() []*strand {
	var out []*strand
	for _, r := range s.running {
		if p := r.key.Path(); len(p.Branches) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// lines shows the branches that run in at most so many lines, the last one for all that have none.
func (s *strands) lines(now time.Time, most, width int) []string {
	return capped(most, len(s.running), func(i int) string {
		r := s.running[i]
		return clocked(whole(now.Sub(r.since)), columns(r.label, r.place(), joined(", ", r.contest.sum(), r.contest.judging(), r.contest.kept()), r.doing.line(width)))
	})
}

// number is that of the element or ward.
func (r *strand) number() int {
	p := r.key.Path()
	if last := p.Last(); last.Number > 0 {
		return last.Number
	}
	return p.Branches[len(p.Branches)-1].Number
}

func (r *strand) place() string { return placeOf(r.attempt, r.turn) }

func placeOf(attempt, turn int) string {
	first, second := "", ""
	if attempt > 1 {
		first = fmt.Sprintf("attempt %d", attempt)
	}
	if turn > 0 {
		second = fmt.Sprintf("turn %d", turn)
	}
	return joined(" ", first, second)
}

// capped returns a line for each of n things, or for the first ones and how many there are more.
func capped(most, n int, line func(i int) string) []string {
	shown := n
	if n > most {
		shown = max(most-1, 0)
	}
	var out []string
	for i := range shown {
		out = append(out, line(i))
	}
	if n > shown {
		out = append(out, clocked("", fmt.Sprintf("and %d more", n-shown)))
	}
	return out
}

// line says in a line what is done.
func (d *doing) line(width int) string {
	if n := len(d.running); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf("and %d more", n-1)
		}
		return columns(d.running[0].name, d.running[0].hint, more)
	}
	return columns(term.OneLine(d.activity), tailOf(term.OneLine(d.detail), width/2))
}
