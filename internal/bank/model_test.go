package bank

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memory"
)

// naive is a bank that keeps whole copies of its files, with how often each path was written.
type naive struct {
	files memory.Files
	times map[string]int
}

func (n *naive) copy() *naive { return &naive{maps.Clone(n.files), maps.Clone(n.times)} }

func (n *naive) apply(changes []memory.Change) {
	n.files = n.files.With(changes)
	for _, c := range changes {
		n.times[c.Path]++
	}
}

// adopt has paths as another one has them.
func (n *naive) adopt(from *naive, paths []string) {
	for _, path := range paths {
		if n.times[path] = from.times[path]; slices.Contains(slices.Collect(maps.Keys(from.files)), path) {
			n.files[path] = from.files[path]
		} else {
			delete(n.files, path)
		}
	}
}

// differing returns those of some paths that have been written since.
func (n *naive) differing(now *naive, paths []string) (out []string) {
	for _, path := range paths {
		if n.times[path] != now.times[path] {
			out = append(out, path)
		}
	}
	return out
}

// call does what the bank should do, and reports whether there is a conflict, and whether the call fails.
func (n *naive) call(now *naive, c *memory.Command) (conflict, failed bool) {
	res := c.Run(n.files)
	if res.Failed || len(res.Changes) == 0 {
		return false, res.Failed
	}
	changed := n.differing(now, res.Paths)
	if len(changed) == 0 && c.Run(now.files).Failed {
		changed = n.differing(now, slices.Collect(maps.Keys(now.times)))
	}
	if len(changed) > 0 {
		n.adopt(now, changed)
		return true, true
	}
	now.apply(res.Changes)
	paths := make([]string, len(res.Changes))
	for i, x := range res.Changes {
		paths[i] = x.Path
	}
	n.adopt(now, paths)
	return false, false
}

func randomPath(r *rand.Rand, files memory.Files) string {
	if existing := slices.Sorted(maps.Keys(files)); len(existing) > 0 && r.IntN(2) == 0 {
		return existing[r.IntN(len(existing))]
	}
	path := memory.Root
	for range 1 + r.IntN(2) {
		path += "/" + string("abA"[r.IntN(3)])
	}
	return path
}

func randomCommand(r *rand.Rand, files memory.Files) *memory.Command {
	path, letter := randomPath(r, files), func() string { return string("xyz"[r.IntN(3)]) }
	switch r.IntN(9) {
	case 0:
		return view(path)
	case 1, 2, 3:
		return create(path, letter())
	case 4, 5:
		return replaces(path, letter(), letter()+letter())
	case 6:
		return insert(path, r.IntN(2), letter())
	case 7:
		return remove(path)
	}
	return rename(path, randomPath(r, nil))
}

// Random calls of several sessions, each of which has seen another state, do what a bank of whole copies does. What was read
// bit by bit is what is read anew, and an export makes the same bank.
func TestAgainstCopies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b, r := setup(t), rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be the same again
			now := &naive{memory.Files{}, map[string]int{}}
			stores := []*Store{b.store(), b.store()}
			var sessions []*session
			var views []*naive
			came := map[string]int{}
			for i := range 300 {
				if i%15 == 0 {
					sessions = append(sessions, begin(t, stores[r.IntN(2)], fmt.Sprint("s", i)))
					views = append(views, now.copy())
				}
				n := max(len(sessions)-1-r.IntN(4), 0)
				s, c := sessions[n], randomCommand(r, views[n].files)
				conflict, failed := views[n].call(now, c)
				out := s.call(t, c)
				require.Equal(t, conflict, out.Conflict, "%d: %+v: %s", i, c, out.Text)
				require.Equal(t, failed, out.Failed, "%d: %+v: %s", i, c, out.Text)
				h, err := s.Read(noteBank)
				require.NoError(t, err)
				require.Equal(t, now.files, h.Files(h.Now()), "%d: %+v", i, c)
				require.Equal(t, views[n].files, h.Files(s.seen), "%d: %+v", i, c)
				came[fmt.Sprint(c.Command, " ", conflict)]++
			}
			require.GreaterOrEqual(t, len(came), 9, "most commands meet conflicts: %v", came)
			anew := b.history(t)
			for _, store := range stores {
				h, err := store.Read(noteBank)
				require.NoError(t, err)
				require.Equal(t, anew, h)
			}
			other := setup(t)
			other.imports(t, b.export(t))
			require.Equal(t, now.files, other.files(t))
		})
	}
}
