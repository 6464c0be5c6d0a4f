package inspect_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// TestChanges: what a request says that changed makes it of the one before in its conversation.
func TestChanges(t *testing.T) {
	t.Parallel()
	changed, requests := 0, 0
	for _, r := range records(t) {
		before := map[echo.Key][]record.Sent{}
		for req, err := range record.RequestsOf(r.Entries) {
			require.NoError(t, err)
			key := record.Conversation(req.Selection.Key)
			now := slices.Clone(before[key])
			if req.Anew {
				now = nil
			}
			for _, c := range req.Changes {
				if c.At == len(now) {
					require.Zero(t, c.Was)
					now = append(now, req.Sent[c.At])
					continue
				}
				require.Equal(t, before[key][c.At], c.Was)
				now[c.At] = req.Sent[c.At]
				changed++
			}
			require.Equal(t, req.Sent, now)
			before[key] = now
			requests++
		}
	}
	require.Greater(t, changed, 20)
	require.Greater(t, requests, 200)
}

// TestNothingPassesUnchecked: a record in which one hash of a selection is another one is refused at that selection, and one in which
// a message is another one at the first selection of its conversation that has it.
func TestNothingPassesUnchecked(t *testing.T) {
	t.Parallel()
	selections, messages := 0, 0
	for _, r := range records(t) {
		for i, e := range r.Entries {
			if e.Selection != nil && e.NodeType == echo.NodeSelection {
				for s := range e.Selection.Spans {
					for h := range e.Selection.Spans[s].Hashes {
						require.Equal(t, firstWrong(changedHash(r.Entries, i, s, h)), e.Seq)
						selections++
					}
				}
			}
			if first := firstOf(r.Entries, e); first != 0 {
				entries := slices.Clone(r.Entries)
				other := *e
				other.Message = echo.NewText(echo.RoleUser, echo.KindTask, "another message")
				entries[i] = &other
				require.Equal(t, first, firstWrong(entries), "entry %d", e.Seq)
				messages++
			}
		}
	}
	require.Greater(t, selections, 500)
	require.Greater(t, messages, 200)
}

// firstWrong returns the number of the first selection that does not fit; 0: all do.
func firstWrong(entries []*echo.Entry) uint64 {
	requests := record.NewRequests()
	for _, e := range entries {
		if _, err := requests.Read(e); err != nil {
			return e.Seq
		}
	}
	return 0
}

// changedHash returns entries in which one hash of a selection is another one.
func changedHash(entries []*echo.Entry, at, span, hash int) []*echo.Entry {
	out := slices.Clone(entries)
	e, s := *entries[at], *entries[at].Selection
	s.Spans = slices.Clone(s.Spans)
	s.Spans[span].Hashes = slices.Clone(s.Spans[span].Hashes)
	s.Spans[span].Hashes[hash] = "0123456789abcdef"
	e.Selection = &s
	out[at] = &e
	return out
}

// firstOf returns the number of the first selection whose history has the message of an entry; 0: none has.
func firstOf(entries []*echo.Entry, e *echo.Entry) (seq uint64) {
	if e.Message == nil {
		return 0
	}
	for req, err := range record.RequestsOf(entries) {
		if err == nil && slices.Contains(req.History, e) {
			return req.Selection.Seq
		}
	}
	return 0
}
