// Package inspect answers questions about the calls of one recorded session. Its typed values have
// the JSON of --json and of the HTTP API. Errors have a kind, see package failure.
package inspect

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/handoff"
)

// Record is the record of one session with the model calls of its conversations.
type Record struct {
	ID      string
	Entries []*echo.Entry
	Calls   []Call

	// Taken is what persons have taken out of the context, also what no run has taken yet; nil: as recorded.
	Taken *echo.Withdrawals

	origin echo.Origin
}

// New finds the model calls in the entries of a session.
func New(id string, entries []*echo.Entry) (*Record, error) {
	r := &Record{ID: id, Entries: entries}
	answers := map[echo.Key]*echo.Entry{}
	for _, e := range entries {
		switch e.NodeType { //nolint:exhaustive // the others are not asked for
		case echo.NodeRunStart:
			r.origin = echo.OriginOf(e)
		case echo.NodeModelCall:
			answers[e.Key] = e
		}
	}
	err := follow(r, func(n int, req *record.Request, t *thread) bool {
		answer := answers[req.Key()]
		call := newCall(n, req, t.sums(), answer)
		call.Copied = answer != nil && r.origin.Has(answer)
		r.Calls = append(r.Calls, call)
		return true
	})
	return r, err
}

// Handoff says where the run stands, for whoever continues it.
func (r *Record) Handoff() (*echo.Handoff, error) {
	h, err := handoff.Without(r.Entries, r.Taken)
	if err != nil {
		return nil, failure.New(failure.NoHandoff, err, "")
	}
	return h, nil
}

// walk shows the requests, numbered from 1, until see returns false. Only the last stays valid.
func (r *Record) walk(see func(n int, req *record.Request) bool) error {
	n := 0
	for req, err := range record.RequestsOf(r.Entries) {
		if err != nil {
			return failure.New(failure.Damaged, fmt.Errorf("the record of session %s does not fit together: %w", r.ID, err), "")
		}
		if n++; !see(n, req) {
			return nil
		}
	}
	return nil
}
