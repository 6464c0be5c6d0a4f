package figures

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/sessions"
)

// How many sessions of this machine a page looks at: at their folders, and into their journals.
const (
	mostLooked = 5000
	mostRead   = 400
	atOnce     = 64
	mostSeen   = 2000 // journals whose figures are kept
)

// seen is what a journal came to, as long as it is as it was.
type seen struct {
	stamp archive.Stamp
	run   Run
}

// withThoseHere puts sessions of this machine into a list: it replaces those that ClickHouse does not have whole, and says of
// the others what only this machine knows.
func (d *Desk) withThoseHere(ctx context.Context, s *Search, list *List, stored []Run) ([]Run, error) {
	found, err := d.found(s, stored)
	if err != nil {
		return nil, err
	}
	address := ""
	if list.Away == nil && d.archive.Address != nil {
		if address, err = d.archive.Address(); err != nil {
			return nil, err
		}
	}
	w := &walk{Desk: d, search: s, address: address, away: list.Away != nil, runs: map[string]*Run{}}
	for i := range stored {
		w.runs[stored[i].ID] = &stored[i]
	}
	for len(found) > 0 && !w.enough(found[0]) {
		if err := ctx.Err(); err != nil {
			return nil, failure.New(failure.Interrupted, err, "")
		}
		if w.looked >= mostLooked || w.read >= mostRead {
			list.Unread = len(found)
			break
		}
		n := min(atOnce, len(found))
		w.look(ctx, found[:n])
		found = found[n:]
	}
	return w.all(), nil
}

// found returns the sessions here that may be in the list, the newest first.
func (d *Desk) found(s *Search, stored []Run) ([]*sessions.Found, error) {
	found, err := sessions.Find(config.SessionsDir(d.archive.Home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	known := map[string]bool{}
	for i := range stored {
		known[stored[i].ID] = true
	}
	found = slices.DeleteFunc(found, func(f *sessions.Found) bool {
		switch {
		case f.ChildOf != "":
			return true
		case known[f.ID] || f.StartedAt.IsZero():
			return false
		}
		return f.StartedAt.Before(s.Since) || !s.Until.IsZero() && !f.StartedAt.Before(s.Until) || !s.After.IsZero() && f.StartedAt.After(s.After.At)
	})
	slices.SortFunc(found, func(a, b *sessions.Found) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(a.ID, b.ID))
	})
	return found, nil
}

// walk looks at the sessions here, the newest first.
type walk struct {
	*Desk
	search  *Search
	address string // of ClickHouse
	away    bool   // it was not asked

	mu     sync.Mutex // guards what follows
	runs   map[string]*Run
	looked int
	read   int
}

// enough reports whether the page is full of runs that are newer than a session and all after it.
func (w *walk) enough(next *sessions.Found) bool {
	newer := 0
	for _, r := range w.runs {
		if r.StartedAt.After(next.StartedAt) {
			newer++
		}
	}
	return newer > w.search.Limit
}

func (w *walk) all() []Run {
	out := make([]Run, 0, len(w.runs))
	for _, r := range w.runs {
		out = append(out, *r)
	}
	return out
}

func (w *walk) look(ctx context.Context, found []*sessions.Found) {
	w.looked += len(found)
	sessions.Each(found, func(f *sessions.Found) {
		had := w.of(f.ID)
		run := w.one(ctx, f, had)
		w.mu.Lock()
		defer w.mu.Unlock()
		if run == nil {
			delete(w.runs, f.ID)
		} else {
			w.runs[f.ID] = run
		}
	})
}

func (w *walk) of(id string) *Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[id]
}

// one returns a session here as it is in the list, nil when it does not fit. had is what ClickHouse has, nil when that does
// not fit.
func (w *walk) one(ctx context.Context, f *sessions.Found, had *Run) *Run {
	look, err := sessions.Look(f.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return had
	case err != nil:
		return w.unread(f, look, err)
	}
	pending := look.Last
	if !w.away {
		pending = look.Waiting(w.address)
	}
	if pending == 0 && had == nil {
		return nil // ClickHouse has all of it, and it does not fit
	}
	if pending == 0 {
		run := *had
		run.Here, run.Status = true, cmp.Or(statusHere(look), run.Status)
		if w.search.Status != "" && w.search.Status != run.Status && w.search.Status != had.Status {
			return nil
		}
		return &run
	}
	if !w.search.header(look) {
		return nil
	}
	return w.journal(ctx, f, look, pending)
}

// statusHere is the status that only this machine knows, "" for another one.
func statusHere(look *sessions.Session) string {
	if s := look.Status(); s == sessions.Running || s == sessions.Killed {
		return s
	}
	return ""
}

// header reports whether what a header says fits.
func (s *Search) header(look *sessions.Session) bool {
	f := clickhouse.Filter{Cascade: s.Cascade, Tags: s.Tags}
	return f.IsZero() || f.Fits(look.ID, look.CascadeID, look.StartedAt, sessions.Tags(look.Header.Cascade))
}

// unread returns a session that cannot be read, where nothing is asked for that it would have to say.
func (w *walk) unread(f *sessions.Found, look *sessions.Session, err error) *Run {
	s := w.search
	damaged := "damaged"
	if archive.IsOtherVersion(err) {
		damaged = "other_version"
	}
	run := &Run{Here: true, Problem: err.Error()}
	run.ID, run.CascadeID, run.Status, run.StartedAt = f.ID, look.CascadeID, damaged, f.StartedAt
	if s.Cascade != "" && s.Cascade != run.CascadeID || s.Status != "" && s.Status != damaged || s.Model != "" || s.Text != "" || len(s.Tags) > 0 || s.Least != nil || s.Most != nil || !s.times(run) {
		return nil
	}
	return run
}

// times reports whether the start of a run fits.
func (s *Search) times(r *Run) bool {
	return !r.StartedAt.Before(s.Since) && (s.Until.IsZero() || r.StartedAt.Before(s.Until)) && (s.After.IsZero() || s.After.before(r.StartedAt, r.ID))
}

// journal returns a session as its journal says, nil when it does not fit.
func (w *walk) journal(ctx context.Context, f *sessions.Found, look *sessions.Session, pending uint64) *Run {
	s := w.search
	stamp := archive.StampOf(w.archive, f.ID)
	run, ok := w.kept(f.ID, stamp)
	if !ok || s.Model != "" || s.Text != "" {
		w.mu.Lock()
		w.read++
		w.mu.Unlock()
		r, err := archive.Read(ctx, w.archive, f.ID)
		if err != nil {
			return w.unread(f, look, err)
		}
		if s.Model != "" && !calls(r.Entries, s.Model) || s.Text != "" && !says(r, s.Text) {
			return nil
		}
		run = runOf(r)
		run.Tags = sessions.Tags(look.Header.Cascade)
		w.keep(f.ID, seen{stamp, run})
	}
	run.Pending = pending
	ended := statusHere(look) == ""
	if s.Status != "" && s.Status != run.Status && (ended || s.Status != unfinished) || !s.times(&run) || !s.money(&run) {
		return nil
	}
	return &run
}

// money reports whether the cost of a run fits.
func (s *Search) money(r *Run) bool {
	if s.Least == nil && s.Most == nil {
		return true
	}
	return r.CostUSD != nil && (s.Least == nil || *r.CostUSD >= *s.Least) && (s.Most == nil || *r.CostUSD <= *s.Most)
}

func (d *Desk) kept(id string, stamp archive.Stamp) (Run, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.seen[id]
	return k.run, ok && k.stamp == stamp
}

func (d *Desk) keep(id string, s seen) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= mostSeen {
		clear(d.seen)
	}
	d.seen[id] = s
}

// runOf returns a session that was read.
func runOf(r *archive.Reading) Run {
	d := r.Detail
	run := Run{Here: true, Session: clickhouse.Session{SessionState: d.SessionState, SessionTimes: d.SessionTimes, SessionFigures: d.SessionFigures}}
	run.Error = "" // lists have no texts of this kind
	if rec, err := inspect.New(d.ID, r.Entries); err == nil {
		total := rec.Stats().Total
		run.Savings = savingsOf(&total)
	}
	return run
}

// calls reports whether a model was called, and not only in what was copied.
func calls(entries []*echo.Entry, model string) bool {
	var origin echo.Origin
	if len(entries) > 0 {
		origin = echo.OriginOf(entries[0])
	}
	return slices.ContainsFunc(entries, func(e *echo.Entry) bool {
		return e.NodeType == echo.NodeModelCall && e.Model == model && !origin.Has(e)
	})
}

// says reports whether a session has a text where [Search] looks for it.
func says(r *archive.Reading, text string) bool {
	text = strings.ToLower(text)
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	if has(r.Detail.ID) || has(r.Detail.CascadeID) || has(r.Detail.Error) {
		return true
	}
	text = inJSON(text)
	return slices.ContainsFunc(r.Entries, func(e *echo.Entry) bool {
		switch e.NodeType { //nolint:exhaustive // no other has an input or an output of the run
		case echo.NodeRunStart:
			d, err := echo.Read[echo.RunStart](e)
			return err == nil && has(jsonOf(d.Input))
		case echo.NodeRunEnd:
			d, err := echo.Read[echo.RunEnd](e)
			return err == nil && d.Output != nil && has(jsonOf(d.Output))
		}
		return false
	})
}

// jsonOf returns a value that came from JSON as JSON again, as ClickHouse writes it.
func jsonOf(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what came from JSON can be written
	return b.String()
}
