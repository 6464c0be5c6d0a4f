package inspect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

// incident is the session of the reports of the command: eight calls, masked, cut, refused and
// summed up, in three visits.
func incident(t *testing.T) *inspect.Record {
	t.Helper()
	data, err := os.ReadFile("../../cmd/windlass/testdata/reports/context.jsonl")
	require.NoError(t, err)
	var entries []*echo.Entry
	for line := range strings.Lines(string(data)) {
		e := &echo.Entry{}
		require.NoError(t, json.Unmarshal([]byte(line), e))
		entries = append(entries, e)
	}
	r, err := inspect.New("s1", entries)
	require.NoError(t, err)
	return r
}

func TestPick(t *testing.T) {
	t.Parallel()
	r := incident(t)
	for name, tt := range map[string]struct {
		pick inspect.Pick
		want string
	}{
		"the last":                          {inspect.Pick{}, "research~2/attempt1/turn1"},
		"of a phase, the last visit":        {inspect.Pick{Phase: "research"}, "research~2/attempt1/turn1"},
		"of a visit":                        {inspect.Pick{Phase: "report"}, "report/attempt1/turn2"},
		"by its turn":                       {inspect.Pick{Phase: "research", Turn: 2}, "research/attempt1/turn2"},
		"by its number":                     {inspect.Pick{Call: "1", Phase: "nothing else counts"}, "research/attempt1/turn1"},
		"by its place":                      {inspect.Pick{Call: "research/attempt1/turn3"}, "research/attempt1/turn3"},
		"by its key":                        {inspect.Pick{Call: "research/attempt1/turn3/model"}, "research/attempt1/turn3"},
		"refused, and the one that was not": {inspect.Pick{Call: "research/attempt1/turn4/"}, "research/attempt1/turn4/model2"},
	} {
		c, err := r.Pick(tt.pick)
		require.NoError(t, err, name)
		require.Equal(t, tt.want, c.Place(), name)
	}
	for text, tt := range map[string]struct {
		pick inspect.Pick
		kind failure.Kind
	}{
		"attempts, turns, elements, candidates and steps of refinement are counted from 1": {inspect.Pick{Turn: -1}, failure.InvalidRequest},
		`session s1 has no model call of phase "resarch" in attempt 2 in turn 3; it has 8 calls, the nearest are `: {
			inspect.Pick{Phase: "resarch", Attempt: 2, Turn: 3}, failure.UnknownCall,
		},
		"session s1 has no model call number 9; it has 8 calls": {inspect.Pick{Call: "9"}, failure.UnknownCall},
		`session s1 has no model call "report/attempt1/turn7"; it has 8 calls, the nearest are report/attempt1/turn1, report/attempt1/turn2, `: {
			inspect.Pick{Call: "report/attempt1/turn7"}, failure.UnknownCall,
		},
	} {
		_, err := r.Pick(tt.pick)
		require.ErrorContains(t, err, text)
		require.Equal(t, tt.kind, failure.KindOf(err))
	}
}

// TestShow: the messages of a request are those that were sent for the messages of the history, in
// their order.
func TestShow(t *testing.T) {
	t.Parallel()
	r := incident(t)
	for i := range r.Calls {
		shown, err := r.Show(&r.Calls[i])
		require.NoError(t, err)
		require.Len(t, shown.Messages, shown.Call.MessageCount)
		n := 0
		for _, f := range shown.Forms {
			require.Len(t, f.Sent, f.Messages)
			require.Equal(t, f.Messages > 0, f.Position > 0)
			for j, m := range f.Sent {
				require.Equal(t, n, f.Position+j-1)
				require.Equal(t, string(m.JSON()), string(shown.Messages[n]))
				n++
			}
		}
		require.Equal(t, len(shown.Messages), n)
	}
}

// TestDiff compares every call with every other: with itself nothing changed, and what is gone one
// way is added the other.
func TestDiff(t *testing.T) {
	t.Parallel()
	r := incident(t)
	count := func(d *inspect.Diff) map[inspect.Change]int {
		out := map[inspect.Change]int{}
		for _, c := range d.Messages {
			out[c.Change]++
		}
		return out
	}
	for i := range r.Calls {
		for j := range r.Calls {
			d, err := r.Diff(&r.Calls[i], &r.Calls[j])
			require.NoError(t, err)
			back, err := r.Diff(&r.Calls[j], &r.Calls[i])
			require.NoError(t, err)
			require.Equal(t, d.Prefix.Messages, back.Prefix.Messages)
			one, other := count(d), count(back)
			require.Equal(t, one[inspect.Added], other[inspect.Gone])
			require.Equal(t, one[inspect.Changed], other[inspect.Changed])
			if i == j {
				require.InDelta(t, 1, d.Prefix.Share, 0)
				require.Equal(t, "the requests are equal", d.Prefix.Why)
				require.Len(t, one, 1)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	r := incident(t)
	known, err := r.Messages()
	require.NoError(t, err)
	for h := range known {
		x, err := r.Explain(strings.ToUpper(string(h)))
		require.NoError(t, err)
		require.Equal(t, h, x.Message.Hash())
		require.NotEmpty(t, x.Uses)
		for _, u := range x.Uses {
			require.LessOrEqual(t, u.Calls, u.Last-u.First+1)
			require.NotEqual(t, h, u.For)
		}
	}
	_, err = r.Explain("nothing")
	require.ErrorContains(t, err, `no call of session s1 had a message with the hash "nothing"; the nearest are `)
	require.Equal(t, failure.UnknownMessage, failure.KindOf(err))
	_, err = r.Explain("")
	require.Equal(t, failure.UnknownMessage, failure.KindOf(err))
}

// TestStats: the sums are those of the calls that were answered.
func TestStats(t *testing.T) {
	t.Parallel()
	r := incident(t)
	s := r.Stats()
	var sent, saved int64
	for _, c := range s.Calls {
		if c.Answered {
			sent, saved = sent+c.ContextSize, saved+c.TokensSaved
		}
	}
	require.Equal(t, []int64{sent, saved}, []int64{s.Total.SentTokens, s.Total.SavedTokens})
	require.Equal(t, []int{len(r.Calls), 3}, []int{s.Total.Calls + s.Total.NotAnswered, s.Total.Visits})
	require.Equal(t, inspect.ReadSums{MaskedResults: 3, Recalls: 1, Rereads: 2}, s.Total.Reread)
	require.Equal(t, []int{1, 1, 1}, []int{s.Total.Guard.Warnings, s.Total.Guard.Compactions, s.Total.Guard.Calls})
	require.Positive(t, *s.Total.CachedEstimated)
}

// TestRecordWithoutCalls: a session that has not begun has no call, no message and no handoff.
func TestRecordWithoutCalls(t *testing.T) {
	t.Parallel()
	r, err := inspect.New("s1", nil)
	require.NoError(t, err)
	_, err = r.Pick(inspect.Pick{})
	require.EqualError(t, err, "session s1 has no model call of which it is recorded what was sent")
	require.Equal(t, failure.UnknownCall, failure.KindOf(err))
	_, err = r.Explain("80")
	require.Equal(t, failure.UnknownCall, failure.KindOf(err))
	_, err = r.Handoff()
	require.Equal(t, failure.NoHandoff, failure.KindOf(err))
	nothing := new(float64)
	require.Equal(t, inspect.Sums{
		FullUSD: nothing, SentUSD: nothing, SavedUSD: nothing, CostUSD: nothing, Guard: inspect.GuardSums{CostUSD: nothing},
		Between: record.Between{SavedUSD: nothing},
	}, r.Stats().Total, "the sum of none is known")
}

// TestCallsOfCandidates: the calls of a whole cascade with candidates are in sessions of their own, which are named.
func TestCallsOfCandidates(t *testing.T) {
	t.Parallel()
	var entries []*echo.Entry
	add := func(key string, p echo.Payload) {
		e := echo.NewEntry(echo.MustKey(key), p)
		e.Seq, e.SessionID = uint64(len(entries)+1), "s1"
		e.SetKeyFields()
		entries = append(entries, e)
	}
	for i, key := range []string{"run/sounding1/candidate", "run/sounding2/candidate", "run/reforge1/sounding1/candidate"} {
		add(key, echo.Candidate{Index: i % 2, Factor: 2})
		add(key, echo.ChildStart{Session: fmt.Sprint("c", i+1), How: echo.ChildSounding})
		add(key, echo.ChildEnd{Session: fmt.Sprint("c", i+1), Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	}
	r, err := inspect.New("s1", entries)
	require.NoError(t, err)
	require.Equal(t, "c1", r.CallsIn())
	_, err = r.Pick(inspect.Pick{})
	const none = "session s1 has no model call of which it is recorded what was sent: each candidate of its cascade is a session: "
	require.EqualError(t, err, none+"c1 (candidate 1), c2 (candidate 2), c3 (step 1 of refinement, candidate 1)")
	add("run/choice", echo.Choice{Winner: 2, How: echo.ChoiceFirst})
	r, err = inspect.New("s1", entries)
	require.NoError(t, err)
	require.Equal(t, "c2", r.CallsIn())
	require.Equal(t, none+"c1 (candidate 1), c2 (candidate 2, kept), c3 (step 1 of refinement, candidate 1)", r.WithoutCalls())
}

// TestRecordThatDoesNotFit: a selection of a message that is not recorded is damage.
func TestRecordThatDoesNotFit(t *testing.T) {
	t.Parallel()
	whole := incident(t)
	var entries []*echo.Entry
	for _, e := range whole.Entries {
		if e.NodeType != echo.NodeMessage {
			entries = append(entries, e)
		}
	}
	_, err := inspect.New("s1", entries)
	require.ErrorContains(t, err, "the record of session s1 does not fit together: ")
	require.Equal(t, failure.Damaged, failure.KindOf(err))
}
