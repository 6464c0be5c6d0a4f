package names_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/names"
)

// one is a session of a world: the list is in the order in which they began.
type one struct{ id, cascade string }

type world []one

func (w world) IDs(fits func(string) bool) (ids []string, err error) {
	for _, s := range w {
		if fits(s.id) {
			ids = append(ids, s.id)
		}
	}
	return ids, nil
}

func (w world) Nth(n int) (string, error) {
	if n >= len(w) {
		return "", nil
	}
	return w[len(w)-1-n].id, nil
}

func (w world) NewestOf(cascade string) (string, error) {
	for _, s := range slices.Backward(w) {
		if s.cascade == cascade {
			return s.id, nil
		}
	}
	return "", nil
}

func TestFind(t *testing.T) {
	t.Parallel()
	w := world{
		{"nightly", "audit"},
		{"nightly-7", "audit"},
		{"01jz4k0000000000000abcde", "incident"},
		{"01jz4k0000000000000xbcde", "incident"},
		{"abcde-first", "triage"},
		{"last-week", "incident"},
	}
	for name, want := range map[string]names.Found{
		"":                         {},
		"nightly":                  {names.Exact, []string{"nightly"}},
		"last":                     {names.Last, []string{"last-week"}},
		"last~0":                   {names.Last, []string{"last-week"}},
		"last~1":                   {names.Last, []string{"abcde-first"}},
		"last~5":                   {names.Last, []string{"nightly"}},
		"last~6":                   {Way: names.Last},
		"last~999999999":           {Way: names.Last},
		"last~":                    {},
		"last~x":                   {},
		"last~-1":                  {},
		"last~9999999999":          {},
		"last-":                    {names.Prefix, []string{"last-week"}},
		"abcde":                    {names.Suffix, []string{"01jz4k0000000000000abcde"}},
		"abcde-":                   {names.Prefix, []string{"abcde-first"}},
		"bcde":                     {},
		"0xbcde":                   {names.Suffix, []string{"01jz4k0000000000000xbcde"}},
		"01jz4k":                   {names.Prefix, []string{"01jz4k0000000000000abcde", "01jz4k0000000000000xbcde"}},
		"incident":                 {names.Cascade, []string{"last-week"}},
		"triage":                   {names.Cascade, []string{"abcde-first"}},
		"triag":                    {},
		"../nightly":               {},
		"nightly\x00":              {},
		strings.Repeat("n", 1<<20): {},
	} {
		found, err := names.Find(name, names.Everything, w)
		require.NoError(t, err)
		require.Equal(t, want, found, "%.40q", name)
		if want.Way == names.Last || want.Way == names.Cascade {
			want = names.Found{}
			if name == "last" { // it is also how an id begins
				want = names.Found{Way: names.Prefix, IDs: []string{"last-week"}}
			}
		}
		found, err = names.Find(name, names.IDs, w)
		require.NoError(t, err)
		require.Equal(t, want, found, "%.40q as an id", name)
	}
	found, err := names.Find("last", names.Everything, world{{"last", "x"}, {"newer", "x"}})
	require.NoError(t, err)
	require.Equal(t, names.Found{Way: names.Exact, IDs: []string{"last"}}, found, "a session of a version that allowed the name")
}

type broken struct {
	world
	ids, nth, of error
}

func (b broken) IDs(fits func(string) bool) ([]string, error) {
	ids, _ := b.world.IDs(fits)
	return ids, b.ids
}
func (b broken) Nth(int) (string, error)         { return "", b.nth }
func (b broken) NewestOf(string) (string, error) { return "", b.of }

func TestFindFails(t *testing.T) {
	t.Parallel()
	why := errors.New("no disk")
	for name, b := range map[string]broken{"a": {ids: why}, "last": {nth: why}, "cascade": {of: why}} {
		_, err := names.Find(name, names.Everything, b)
		require.ErrorIs(t, err, why)
	}
}

// TestFindKeepsTheOrder holds Find against the rule in its plainest form, on random sessions whose
// ids are beginnings and ends of each other and of the ids of cascades.
func TestFindKeepsTheOrder(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(8) {
			b.WriteByte("ab"[rnd.IntN(2)])
		}
		return b.String()
	}
	seen := map[names.Way]int{}
	several := 0
	for range 20_000 {
		var w world
		ids := map[string]bool{}
		for range rnd.IntN(8) {
			s := one{word(), word()}
			if rnd.IntN(20) == 0 {
				s.id = "last"
			}
			if !ids[s.id] {
				ids[s.id], w = true, append(w, s)
			}
		}
		name := word()
		if rnd.IntN(5) == 0 {
			name = []string{"last", "last~1", "last~7", "las"}[rnd.IntN(4)]
		}
		for _, scope := range []names.Scope{names.IDs, names.Everything} {
			found, err := names.Find(name, scope, w)
			require.NoError(t, err)
			require.Equal(t, plainly(name, scope, w), found, "%q of %v", name, w)
			seen[found.Way]++
			if len(found.IDs) > 1 {
				several++
			}
		}
	}
	require.Len(t, seen, 6, "every way is met: %v", seen)
	require.Greater(t, several, 100)
}

func plainly(name string, scope names.Scope, w world) names.Found {
	var exact, ends, begins, of []string
	for _, s := range slices.Backward(w) {
		if s.id == name {
			exact = append(exact, s.id)
		}
		if len(name) >= 5 && strings.HasSuffix(s.id, name) {
			ends = append(ends, s.id)
		}
		if strings.HasPrefix(s.id, name) {
			begins = append(begins, s.id)
		}
		if s.cascade == name && of == nil {
			of = []string{s.id}
		}
	}
	slices.Sort(ends)
	slices.Sort(begins)
	n := map[string]int{"last": 0, "last~1": 1, "last~7": 7}
	at, isLast := n[name]
	switch {
	case exact != nil:
		return names.Found{Way: names.Exact, IDs: exact}
	case isLast && scope == names.Everything && at < len(w):
		return names.Found{Way: names.Last, IDs: []string{w[len(w)-1-at].id}}
	case isLast && scope == names.Everything:
		return names.Found{Way: names.Last}
	case ends != nil:
		return names.Found{Way: names.Suffix, IDs: ends}
	case begins != nil:
		return names.Found{Way: names.Prefix, IDs: begins}
	case of != nil && scope == names.Everything:
		return names.Found{Way: names.Cascade, IDs: of}
	}
	return names.Found{}
}

func TestIsReserved(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"last": true, "last~1": true, "last~": false, "Last": false, "lasting": false, "": false} {
		require.Equal(t, want, names.IsReserved(name), name)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	const a, b, c = "01jz4k000000000000000abcde", "01jz4k000000000000000xbcde", "01jz4k00000000000000yxbcde"
	require.Equal(t, []string{"abcde"}, names.Short([]string{a}, nil))
	require.Equal(t, []string{"abcde", "0xbcde", "yxbcde"}, names.Short([]string{a, b, c}, []string{a, b, c}))
	require.Equal(t, []string{"0xbcde"}, names.Short([]string{b}, []string{c}), "among all, not only those shown")
	require.Equal(t, []string{"0abcde"}, names.Short([]string{a}, []string{"abcde"}), "another id is just that")
	require.Equal(t, []string{"nightly-2026", "last-week"}, names.Short([]string{"nightly-2026", "last-week"}, nil), "names of people stay whole")
	require.Empty(t, names.Short(nil, []string{a}))
}

// TestShortIsFound finds every session by what is shown for it, among random ids that end alike.
func TestShortIsFound(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var w world
		var ids []string
		for n := range 1 + rnd.IntN(12) {
			id := fmt.Sprintf("%018d", n*rnd.IntN(1000)) + strings.Repeat("ab", 4)[:4+rnd.IntN(5)]
			id = id[len(id)-min(len(id), 20+rnd.IntN(8)):]
			if len(id) < 26 && rnd.IntN(3) > 0 {
				id = strings.Repeat("0", 26-len(id)) + id
			}
			if !slices.Contains(ids, id) {
				ids, w = append(ids, id), append(w, one{id, "c"})
			}
		}
		shown := ids[:1+rnd.IntN(len(ids))]
		for i, short := range names.Short(shown, ids) {
			found, err := names.Find(short, names.IDs, w)
			require.NoError(t, err)
			require.Equal(t, []string{shown[i]}, found.IDs, "%q among %q", short, ids)
		}
	}
}
