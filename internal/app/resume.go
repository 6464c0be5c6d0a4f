package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/failure"
)

// ResumeOptions say how a session is resumed. What it was started with holds; only what is here may
// be different.
type ResumeOptions struct {
	Limits       Limits
	NoClickHouse bool // also when it was started with ClickHouse
	Extensions   Extensions
}

// ForkOptions say how a session is forked.
type ForkOptions struct {
	SessionID string           // of the fork; "": a new one
	Cascade   *cascade.Cascade // that the fork runs; what is recorded must follow from it, too. nil: that of the parent
	File      string           // where it is from
	ResumeOptions
}

// Resume opens a session on this machine whose run did not come to its end, by its whole id. What
// can be checked is checked before anything is paid for, and when it fails nothing is changed.
func (a *App) Resume(ctx context.Context, id string, o ResumeOptions, w Watch) (*Run, error) {
	j, rec, err := a.sessions.Open(ctx, id)
	if err != nil {
		return nil, JournalError(id, err)
	}
	var r *Run
	if err = (relatives{a}).check(rec); err == nil {
		err = checkAnswered(ctx, deskOf(a), rec, w.Ask != nil)
		tellThose(a, rec, err, w)
	}
	if err == nil {
		r, err = a.resume(ctx, j, rec, o, w, nil)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close(ctx))
	}
	return r, nil
}

// resume equips the run of a session whose journal is open: a child of parent, if that is not nil.
func (a *App) resume(ctx context.Context, j *journal.Journal, rec *journal.Recording, o ResumeOptions, w Watch, parent *opening) (*Run, error) {
	h := rec.Header
	if err := checkResumable(rec); err != nil {
		return nil, err
	}
	origin, err := ReadHeader(h, o.Extensions.ToolNames()...)
	if err != nil {
		return nil, err
	}
	cfg, err := a.configOf(origin.Started.Dir)
	if err != nil {
		return nil, err
	}
	options := origin.Started.options()
	options.Limits, options.Extensions = o.Limits, o.Extensions
	options.NoClickHouse = options.NoClickHouse || o.NoClickHouse
	op := a.opening(cfg, options, w)
	op.dir, op.parent = a.SessionDir(h.SessionID), parent
	r := op.run
	r.header, r.started, r.cascade, r.input = h, origin.Started, origin.Cascade, origin.Input
	r.recheck.set(rec.Entries)
	if err := op.chooseModel(); err != nil {
		return nil, err
	}
	if err := op.allowDownloads(ctx); err != nil {
		return nil, err
	}
	return r, op.equip(ctx, j)
}

func checkResumable(rec *journal.Recording) error {
	h := rec.Header
	if err := engine.CheckResumable(rec.Entries); err != nil {
		return failure.New(failure.NotResumable, &ResumeError{h.SessionID, err}, "")
	}
	if missing := int(h.ParentSeq) - len(rec.Entries); missing > 0 {
		return failure.New(failure.NotResumable, &HalfForkError{h.SessionID, h.Parent, h.ParentSeq, missing}, "")
	}
	return nil
}

// Changed returns the file that says something else by now: that of the cascade, or one that it reaches; "" for none.
func (r *Run) Changed() string {
	now, _, err := LoadFile(context.Background(), r.header.File, Known())
	if err != nil || now == nil {
		return ""
	}
	return changedFile(r.header.File, now, r.cascade, func(c *cascade.Cascade) string { return string(r.secrets.JSON(encoded(c))) })
}

func changedFile(file string, now, then *cascade.Cascade, text func(*cascade.Cascade) string) string {
	if text(now) != text(then) || len(now.Reaches) != len(then.Reaches) {
		return file
	}
	for _, name := range slices.Sorted(maps.Keys(now.Reaches)) {
		x, y := now.Reaches[name], then.Reaches[name]
		switch {
		case y == nil:
			return file
		case x.Hash != y.Hash:
			return cmp.Or(changedFile(x.File, x.Cascade, y.Cascade, text), x.File)
		}
	}
	return ""
}

// Fork makes a new session of the beginning of another one, up to its entry seq, and resumes it.
// The other one stays as it is.
func (a *App) Fork(ctx context.Context, parent string, seq uint64, o ForkOptions, w Watch) (*Run, error) {
	rec, err := a.ReadJournal(parent)
	if err != nil {
		return nil, err
	}
	if seq == 0 || seq > uint64(len(rec.Entries)) {
		return nil, failure.New(failure.InvalidRequest, &ForkPointError{Parent: parent, Seq: seq, Entries: len(rec.Entries)}, "")
	}
	return a.fork(ctx, rec, rec.Entries[:seq], o, w)
}

// ForkPhase makes a new session of another one, of which a phase and what is after it begin again, and
// resumes it: for sessions of graphs, of which no beginning has just what is before a phase, see
// [engine.ForkGraph]. ok is false, and nothing is done, when the session has no such phase, or is none
// of a graph.
func ForkPhase(ctx context.Context, a *App, parent, phase string, o ForkOptions, w Watch) (r *Run, ok bool, err error) {
	rec, err := a.ReadJournal(parent)
	if err != nil {
		return nil, false, err
	}
	c := o.Cascade
	if c == nil {
		origin, err := ReadHeader(rec.Header, o.Extensions.ToolNames()...)
		if err != nil {
			return nil, false, err
		}
		c = origin.Cascade
	}
	kept := engine.ForkGraph(c, rec.Entries, phase)
	if kept == nil {
		return nil, false, nil
	}
	if kept, err = renumber(rec, kept); err != nil {
		return nil, true, err
	}
	r, err = a.fork(ctx, rec, kept, o, w)
	return r, true, err
}

// renumber gives entries of a session the numbers that they have without the others, also where the
// session refers to them. What resumptions have set aside is not among them.
func renumber(rec *journal.Recording, entries []*echo.Entry) ([]*echo.Entry, error) {
	number, out := map[uint64]uint64{}, make([]*echo.Entry, len(entries))
	for i, e := range entries {
		mine := *e
		mine.Seq = uint64(i + 1)
		number[e.Seq] = mine.Seq
		if e.NodeType == echo.NodeResume {
			d, err := echo.Read[echo.Resume](e)
			if err != nil {
				return nil, failure.New(failure.Damaged, fmt.Errorf("read entry %d of session %s: %w", e.Seq, rec.Header.SessionID, err), "")
			}
			d.SetAside = []uint64{}
			mine.Set(d)
		}
		out[i] = &mine
	}
	rec.Header.Redactions = slices.Clone(rec.Header.Redactions)
	for i := range rec.Header.Redactions {
		of := &rec.Header.Redactions[i]
		var moved []uint64
		for _, n := range of.Entries {
			if number[n] > 0 {
				moved = append(moved, number[n])
			}
		}
		of.Entries = moved
	}
	return out, nil
}

// fork makes a session of entries of another one.
func (a *App) fork(ctx context.Context, rec *journal.Recording, entries []*echo.Entry, o ForkOptions, w Watch) (*Run, error) {
	id, err := sessionID(o.SessionID)
	if err != nil {
		return nil, err
	}
	h, err := forkHeader(rec.Header, id, uint64(len(entries)), o)
	if err != nil {
		return nil, err
	}
	if err := maskFork(a, &h, o); err != nil {
		return nil, err
	}
	if err := a.checkFork(ctx, h, entries, o); err != nil {
		return nil, err
	}
	j, err := a.createJournal(ctx, h)
	if err != nil {
		return nil, err
	}
	r, err := a.copyAndResume(ctx, j, h, entries, o, w)
	if r != nil {
		r.started.Files = engine.FilesRecorded(r.started.Files, rec.Entries) // also those behind the fork
	}
	if err != nil {
		return nil, errors.Join(err, j.Close(ctx), removeSession(filepath.Dir(j.Path()), ""))
	}
	return r, nil
}

// forkHeader is the header of a fork: what its parent was started with, under an id of its own.
func forkHeader(parent journal.Header, id string, seq uint64, o ForkOptions) (journal.Header, error) {
	h := parent
	origin, err := ReadHeader(parent, o.Extensions.ToolNames()...)
	if err != nil {
		return h, err
	}
	if o.Cascade != nil {
		h.Cascade, h.File = encoded(o.Cascade), o.File
		if h.Library, err = library.Encode(o.Cascade); err != nil {
			return h, err
		}
	}
	started := origin.Started
	if started.Name == "" {
		started.Name = parent.SessionID
	}
	h.Options = encoded(started)
	h.SessionID, h.StartedAt, h.Parent, h.ParentSeq = id, time.Now().UTC(), parent.SessionID, seq
	h.ChildOf, h.ChildKey, h.Root, h.Depth = "", echo.Key{}, "", 0 // it is nobody's child
	h.Redactions = slices.Clone(h.Redactions)
	for i := range h.Redactions {
		of := &h.Redactions[i]
		of.Entries = slices.DeleteFunc(slices.Clone(of.Entries), func(n uint64) bool { return n > seq })
	}
	return h, nil
}

// checkFork finds out, before there is a session, whether what a fork has of its parent follows
// from its cascade.
func (a *App) checkFork(ctx context.Context, h journal.Header, entries []*echo.Entry, o ForkOptions) error {
	if err := engine.CheckResumable(entries); err != nil {
		return failure.New(failure.NotResumable, &ForkPointError{Parent: h.Parent, Seq: h.ParentSeq, Entries: len(entries), Err: err}, "")
	}
	v, err := a.Verify(ctx, &journal.Recording{Header: h, Entries: entries}, o.Extensions)
	if err != nil || v.Holds {
		return err
	}
	return failure.Newf(failure.Diverged, "%s", v.Difference)
}

func (a *App) copyAndResume(ctx context.Context, j *journal.Journal, h journal.Header, entries []*echo.Entry, o ForkOptions, w Watch) (*Run, error) {
	rec, err := copyEntries(ctx, j, h, entries)
	if err == nil {
		err = copyChanges(a.home, h.Parent, entries, h.SessionID)
	}
	if err != nil {
		return nil, err
	}
	return a.resume(ctx, j, rec, o.ResumeOptions, w, nil)
}

// copyEntries writes the entries that a fork has of another session to its journal.
func copyEntries(ctx context.Context, j *journal.Journal, h journal.Header, entries []*echo.Entry) (*journal.Recording, error) {
	rec := &journal.Recording{Header: h}
	for _, e := range entries {
		mine := *e
		mine.SessionID = h.SessionID
		if mine.NodeType == echo.NodeRunStart {
			if err := mine.SetHeader(encoded(h)); err != nil {
				return nil, failure.New(failure.Failed, fmt.Errorf("copy entry %d of session %s: %w", e.Seq, h.Parent, err), "")
			}
		}
		if err := j.Write(&mine); err != nil {
			return nil, diskError(err)
		}
		rec.Entries = append(rec.Entries, &mine)
	}
	if err := j.Wait(ctx); err != nil {
		return nil, diskError(err)
	}
	return rec, nil
}
