package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// ForkPoint returns the number of the entry that a fork goes on after. A place is the number of an
// entry, or the key of one, which the fork goes on after; or the name of a phase, a visit, an attempt
// or a turn, which it begins again: of a phase the newest visit. Of several entries with a key the
// newest counts. A number is returned as it is; the session may have no such entry.
func ForkPoint(id string, entries []*echo.Entry, place string) (uint64, error) {
	if n, err := strconv.ParseUint(place, 10, 64); err == nil {
		return n, nil
	}
	counted := record.Counted(entries)
	if seq := phaseStart(withoutMarks(counted), place); seq > 0 {
		return seq - 1, nil
	}
	key, err := echo.ParseKey(place)
	if err == nil {
		for _, e := range slices.Backward(counted) {
			if e.Key == key {
				return e.Seq, nil
			}
		}
		if p := key.Path(); p.Scope == "" {
			if seq := firstUnder(withoutMarks(counted), key); seq > 0 {
				return seq - 1, nil
			}
		}
	}
	return 0, noForkPoint(id, counted, place)
}

// withoutMarks returns entries without those that mark the branches of a graph: some of its phases never begin.
func withoutMarks(entries []*echo.Entry) []*echo.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e *echo.Entry) bool {
		visit := e.Key.VisitKey()
		return visit.HasBranches() && (e.NodeType == echo.NodeBranchStart && e.Key == visit.Step(echo.StepStart) || e.NodeType == echo.NodeBranchEnd && e.Key == visit.Step(echo.StepEnd))
	})
}

// phaseStart returns the number of the first entry of the newest visit to a phase; 0 for none.
func phaseStart(entries []*echo.Entry, phase string) uint64 {
	newest, first := 0, uint64(0)
	for _, e := range entries {
		if p := e.Key.Path(); p.Scope == "" && p.Phase == phase && p.Visit > newest {
			newest, first = p.Visit, e.Seq
		}
	}
	return first
}

func firstUnder(entries []*echo.Entry, place echo.Key) uint64 {
	for _, e := range entries {
		if e.Key.Under(place) {
			return e.Seq
		}
	}
	return 0
}

// maxPlaces bounds the work for the nearest places, which grows with the lengths of the names.
const maxPlaces, maxPlace = 1000, 200

func noForkPoint(id string, entries []*echo.Entry, place string) error {
	var places []string
	known := map[string]bool{}
	add := func(name string) {
		if name != "" && !known[name] && len(places) < maxPlaces {
			known[name] = true
			places = append(places, name)
		}
	}
	for _, e := range entries {
		p := e.Key.Path()
		add(p.Phase)
	}
	for _, e := range entries {
		add(e.Key.String())
	}
	near := ""
	if len(place) <= maxPlace {
		near = "; the nearest are " + strings.Join(suggestion.Nearest(place, places, 3), ", ")
	}
	return failure.New(failure.InvalidRequest, fmt.Errorf("session %s has no phase and no key %.200q%s", id, place, near), "")
}
