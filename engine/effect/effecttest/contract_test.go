package effecttest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// judge is a test that keeps the failures of a clause, so that a clause can be seen to fail.
type judge struct {
	testing.TB

	mu     sync.Mutex
	errors []string
}

func (*judge) Helper() {}

func (j *judge) Errorf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.errors = append(j.errors, fmt.Sprintf(format, args...))
}

func (*judge) FailNow() { runtime.Goexit() }

// verdict returns the failures of a clause.
func verdict(t *testing.T, s Subject, c clause) []string {
	t.Helper()
	j := &judge{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(j, s.bench(j))
	}()
	<-done
	return j.errors
}

// liveSubject is a right implementation, replay one that answers from what is recorded.
func liveSubject() Subject {
	return Subject{Asks: true, Records: true, New: func(_ testing.TB, w *World, record effect.Writer, _ []*echo.Entry) effect.Effects {
		return effect.NewLive(w, w, record, nil).Answers(w)
	}}
}

func replaySubject() Subject {
	return Subject{New: func(_ testing.TB, _ *World, record effect.Writer, recorded []*echo.Entry) effect.Effects {
		return effect.NewRecorder(effect.Options{Recording: recorded, Mask: record.Mask})
	}}
}

// TestContractFindsMistakes breaks each sentence of the contract: the clause of that sentence
// rejects it, and every clause rejects something.
func TestContractFindsMistakes(t *testing.T) {
	t.Parallel()
	clauses := map[string]clause{}
	unbroken := map[string]bool{}
	for _, c := range contract {
		clauses[c.name], unbroken[c.name] = c, true
		for _, s := range []Subject{liveSubject(), replaySubject()} {
			if s.has(c) {
				require.Empty(t, verdict(t, s, c), "%s: a right implementation", c.name)
			}
		}
	}
	for _, m := range append(mistakes(), replayMistakes()...) {
		c, known := clauses[m.clause]
		require.True(t, known, m.clause)
		delete(unbroken, c.name)
		s := liveSubject()
		if m.replay {
			s = replaySubject()
		}
		right := s.New
		s.New = func(t testing.TB, w *World, record effect.Writer, recorded []*echo.Entry) effect.Effects {
			x := &mistaken{right: right(t, w, record, recorded), world: w, w: record}
			m.make(x)
			return x
		}
		t.Run(m.clause+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			require.True(t, s.has(c))
			require.NotEmpty(t, verdict(t, s, c), "the clause accepts it")
		})
	}
	require.Empty(t, unbroken, "clauses that nothing fails")
}
