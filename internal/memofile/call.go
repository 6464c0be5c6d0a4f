package memofile

import (
	"context"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
)

// Call implements [memo.Keeper].
func (s *Store) Call(ctx context.Context, r *memo.Request) (*echo.MemoCall, error) {
	all, files, err := s.both()
	if err != nil {
		return nil, err
	}
	x := &call{Request: r, store: s, all: all, files: files, by: memo.Writer{Session: r.Session, Began: s.began, Key: r.Key}}
	if scope, had := x.done(); had != nil {
		return x.wrote(scope, had), x.sync(ctx, scope)
	}
	res, err := x.run()
	if err != nil {
		return nil, err
	}
	if res.Change == nil {
		return x.told(ctx, &res)
	}
	return x.write(ctx, res.Change.Scope)
}

// call is one call of a tool.
type call struct {
	*memo.Request
	store *Store
	by    memo.Writer
	all   map[string]*History // what both scopes had when the call began
	files map[string]*file
}

// done returns the entry that an earlier process has written for the same call, and where.
func (x *call) done() (scope string, had *Entry) {
	for scope, h := range x.all {
		if e := h.by(x.by, x.Hash); e != nil {
			return scope, e
		}
	}
	return "", nil
}

// sync makes durable what an earlier process has written and may not have synced before it died.
func (x *call) sync(ctx context.Context, scope string) error {
	_, _, err := x.files[scope].Append(ctx, func(*History) (*Entry, error) { return nil, nil }) //nolint:nilnil // nothing is written
	return err
}

// run runs the command over the memos as the run sees them.
func (x *call) run() (memo.Result, error) {
	seen, err := x.store.visible(x.all, x.files, x.Session, x.Seen)
	if err != nil {
		return memo.Result{}, err
	}
	var now memo.Set
	for _, scope := range memo.Scopes() {
		now = append(now, x.all[scope].Now()...)
	}
	return x.Command.Run(seen, now), nil
}

// write writes what the command changes, knowing all that is there by then.
func (x *call) write(ctx context.Context, scope string) (out *echo.MemoCall, err error) {
	var res memo.Result
	var again *Entry
	e, _, err := x.files[scope].Append(ctx, func(h *History) (*Entry, error) {
		x.all[scope] = h
		if had := h.by(x.by, x.Hash); had != nil { // by the same call in another process
			again = had
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if res, err = x.run(); err != nil || res.Change == nil {
			return nil, err
		}
		c := res.Change
		e := &Entry{By: x.by, Command: x.Command.Tool, Call: x.Hash, Versions: []Version{{Memo: c.ID, Text: c.Text, Tags: c.Tags, Gone: c.Gone}}}
		return e, x.files[scope].seal(h, e)
	})
	switch {
	case err != nil:
		return nil, err
	case again != nil:
		return x.wrote(scope, again), nil
	case e == nil:
		return x.told(ctx, &res)
	}
	return x.wrote(scope, e), nil
}

// told returns what a call has come to that writes nothing, and notes what the model is told of. What it is told of by
// others, the run sees from here on.
func (x *call) told(ctx context.Context, res *memo.Result) (*echo.MemoCall, error) {
	out := x.Command.Told(res)
	out.Project = x.files[memo.Project].project()
	told := map[string]bool{} // versions
	for _, m := range res.Read {
		told[m.Version] = true
	}
	isNews := func(v Version) bool { return told[v.ID] || res.Conflict && v.Memo == x.Command.ID }
	run := memo.Writer{Session: x.Session, Began: x.store.began}
	for _, scope := range memo.Scopes() {
		for _, e := range x.all[scope].Entries {
			if !x.Seen.Of(scope, e.Seq) && !e.By.Mine(run) && slices.ContainsFunc(e.Versions, isNews) {
				out.Seen = append(out.Seen, echo.MemoSeen{Scope: scope, At: e.Seq})
			}
		}
	}
	n := note{by: x.by, command: x.Command.Tool, call: x.Hash}
	for _, m := range res.Read {
		n.reads = append(n.reads, scoped{m.Scope, Read{Memo: m.ID, Version: m.Version}})
	}
	return out, n.write(ctx, x.files)
}

// wrote returns what a call has come to, by its entry.
func (x *call) wrote(scope string, e *Entry) *echo.MemoCall {
	v := &e.Versions[0]
	return &echo.MemoCall{
		Tool: x.Command.Tool, Text: x.Command.Done(v.Memo), Project: x.files[memo.Project].project(),
		Wrote: []echo.MemoVersion{{Scope: scope, Memo: v.Memo, Version: v.ID, Hash: v.Hash, Tags: v.Tags, Gone: v.Gone}},
		Seen:  []echo.MemoSeen{{Scope: scope, At: e.Seq}},
	}
}
