// Package names decides which session a name means, and how short the id of a session can be shown.
package names

import (
	"slices"
	"strconv"
	"strings"
)

// Way is how a name means a session. The ways are tried in this order, and the first that fits
// counts.
type Way int

// The ways.
const (
	None    Way = iota // it means no session
	Exact              // it is the id
	Last               // "last" is the newest session, "last~1" the one before
	Suffix             // it is the end of the id, of [MinSuffix] characters or more
	Prefix             // it is the beginning of the id
	Cascade            // it is the id of a cascade, and means the newest session of that
)

// Scope says which ways are open to a name.
type Scope int

// The scopes.
const (
	IDs        Scope = iota // an id, its end or its beginning
	Everything              // all ways
)

// MinSuffix is the least number of characters of the end of an id.
const MinSuffix = 5

// Sessions are those that a name may mean.
type Sessions interface {
	// IDs returns the ids that fit, in any order.
	IDs(fits func(id string) bool) ([]string, error)
	// Nth returns the id of the newest session for 0, of the one before for 1; "" for none.
	Nth(n int) (id string, err error)
	// NewestOf returns the id of the newest session of a cascade; "" for none.
	NewestOf(cascade string) (id string, err error)
}

// Found is what a name means: no session, one, or several, sorted by their ids.
type Found struct {
	Way Way
	IDs []string
}

// Find returns which of the sessions a name means. A name that is "last" or "last~N" and no id means
// nothing else: with [Last] and no ids there are not that many sessions.
func Find(name string, scope Scope, among Sessions) (Found, error) {
	if name == "" {
		return Found{}, nil
	}
	ids, err := among.IDs(func(id string) bool { return wayOf(name, id) != None })
	if err != nil {
		return Found{}, err
	}
	if slices.Contains(ids, name) {
		return Found{Exact, []string{name}}, nil
	}
	if n, ok := parseLast(name); ok && scope == Everything {
		id, err := among.Nth(n)
		return single(Last, id), err
	}
	for _, way := range []Way{Suffix, Prefix} {
		if fit := keep(ids, func(id string) bool { return fits(name, id, way) }); len(fit) > 0 {
			slices.Sort(fit)
			return Found{way, slices.Compact(fit)}, nil
		}
	}
	if scope != Everything {
		return Found{}, nil
	}
	id, err := among.NewestOf(name)
	if id == "" {
		return Found{}, err
	}
	return single(Cascade, id), err
}

func single(way Way, id string) Found {
	if id == "" {
		return Found{Way: way}
	}
	return Found{way, []string{id}}
}

func keep(ids []string, fit func(string) bool) (kept []string) {
	for _, id := range ids {
		if fit(id) {
			kept = append(kept, id)
		}
	}
	return kept
}

func fits(name, id string, way Way) bool {
	switch way {
	case Exact:
		return id == name
	case Suffix:
		return len(name) >= MinSuffix && strings.HasSuffix(id, name)
	case Prefix:
		return strings.HasPrefix(id, name)
	}
	return false
}

// wayOf is the first way in which a name means an id by its characters.
func wayOf(name, id string) Way {
	for _, way := range []Way{Exact, Suffix, Prefix} {
		if fits(name, id, way) {
			return way
		}
	}
	return None
}

const last = "last"

// parseLast reads "last" as 0, and "last~N" as N.
func parseLast(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(name, last)
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "~")
	if !ok || len(digits) > 9 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// IsReserved reports whether a name cannot be the id of a new session, as it means another one.
func IsReserved(name string) bool {
	_, is := parseLast(name)
	return is
}

// madeLength is the length of the ids that windlass makes: ULIDs.
const madeLength = 26

// isMade reports whether an id looks as those do that windlass makes.
func isMade(id string) bool {
	return len(id) == madeLength && strings.Trim(id, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// Short returns for each of the ids that are shown what stands for it where there is little room:
// of an id that windlass made its end, which [Find] takes for that session among all that are shown
// and known; any other id as it is.
func Short(shown, known []string) []string {
	all := slices.Concat(shown, known)
	slices.Sort(all)
	all = slices.Compact(all)
	short := slices.Clone(shown)
	var pending []int // indexes of those whose end is not yet unique
	for i, id := range shown {
		if isMade(id) {
			pending = append(pending, i)
		}
	}
	for n := MinSuffix; n < madeLength && len(pending) > 0; n++ {
		ends := make(map[string]int, len(all))
		for _, id := range all {
			ends[id[max(0, len(id)-n):]]++
		}
		pending = slices.DeleteFunc(pending, func(i int) bool {
			end := shown[i][madeLength-n:]
			if ends[end] > 1 {
				return false
			}
			short[i] = end
			return true
		})
	}
	return short
}
