package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/sounding"
	"github.com/windlass-run/windlass/internal/failure"
)

// NotChildError says that a session cannot be the child that a run is to begin.
type NotChildError struct {
	SessionID, Parent string
	Key               echo.Key
	Why               string
}

func (e *NotChildError) Error() string {
	return fmt.Sprintf("session %s is there already, and is not what session %s begins at %s: %s", e.SessionID, e.Parent, e.Key, e.Why)
}

// open opens the session of a child: a new one, one that is resumed, or none, when it has ended or
// cannot begin.
func (c *children) open(ctx context.Context, x *engine.Child) (*Run, *effect.ChildOutcome, error) {
	id := x.Session
	j, rec, err := c.op.app.sessions.Open(ctx, id)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, journal.ErrNotBegun):
		return c.start(ctx, x, id)
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return c.refused(ctx, id, JournalError(id, err))
	}
	return c.reopen(ctx, x, j, rec)
}

// start makes the session of a child. What a fork has of a run has children of that: their copies go
// on in its place.
func (c *children) start(ctx context.Context, x *engine.Child, id string) (*Run, *effect.ChildOutcome, error) {
	if x.From != "" {
		if original, err := c.op.app.ReadJournal(x.From); err == nil && len(original.Entries) > 0 {
			return c.copy(ctx, x, id, original)
		}
	}
	if bad := x.Cascade.Cascade.CheckInputContext(ctx, sounding.OwnInput(x.Input)); len(bad) > 0 {
		messages := make([]string, len(bad))
		for i, v := range bad {
			messages[i] = v.Message
		}
		return nil, failedChild(id, echo.StopInput, "the input does not fit the cascade: "+strings.Join(messages, "; ")), nil
	}
	op := c.opening(x, id)
	run, err := op.start(ctx)
	if err != nil {
		return c.refused(ctx, id, err)
	}
	return run, nil, nil
}

// opening is that of a new child: it has what its parent has.
func (c *children) opening(x *engine.Child, id string) *opening {
	p := c.op
	o := p.options
	o.SessionID, o.Limits, o.Rights = id, Limits{}, p.run.started.Rights
	from := x.Cascade.Cascade
	o.Models = Models{Default: cmp.Or(x.Trial.Model(), p.run.started.Asked, from.Model, p.runner.DefaultModel)}
	op := p.app.opening(p.config, o, c.watch())
	op.parent, op.dir = p, p.app.SessionDir(id)
	op.run.children.of = x
	op.run.header = journal.Header{
		SessionID: id, File: x.Cascade.File, ChildOf: x.Parent, ChildKey: x.Key, Root: cmp.Or(p.run.header.Root, x.Parent), Depth: x.Depth,
	}
	op.run.cascade, op.run.input = from, maps.Clone(x.Input)
	was := &p.run.started
	if x.How == echo.ChildSounding { // it runs the cascade of its parent
		op.run.header.File, op.options.Models.Phases = p.run.header.File, p.options.Models.Phases
	}
	op.run.started = Started{Dir: was.Dir, Asked: was.Asked, PriceAs: was.PriceAs, Off: was.Off, Files: c.filesFor(x), Trial: c.masked(x.Trial)}
	return op
}

// watch is how a child is followed. What a person should know of a run was said of its parent.
func (c *children) watch() Watch {
	w := c.op.watch
	parent := c.op.run
	return Watch{Child: w.Child, Ask: w.Ask, Follow: func(r *Run) (engine.Observer, []echo.Sink) { return w.Child(parent, r) }}
}

// reopen opens a child whose session is there.
func (c *children) reopen(ctx context.Context, x *engine.Child, j *journal.Journal, rec *journal.Recording) (*Run, *effect.ChildOutcome, error) {
	id := rec.Header.SessionID
	if err := c.checkChild(x, &rec.Header); err != nil {
		return nil, nil, errors.Join(&effect.RecordError{Err: err}, j.Close(ctx))
	}
	if int(rec.Header.ParentSeq) > len(rec.Entries) { // its process died while it was copied: it has nothing of its own
		if err := errors.Join(j.Close(ctx), journal.Remove(c.op.app.SessionDir(id))); err != nil {
			return nil, nil, &effect.RecordError{Err: fmt.Errorf("session %s: %w", id, err)}
		}
		return c.start(ctx, x, id)
	}
	if !record.ResumptionOf(rec.Entries).Possible {
		out, err := relatives{c.op.app}.outcomeRecorded(ctx, rec, c.op.options.Extensions)
		return nil, out, errors.Join(err, j.Close(ctx))
	}
	o := ResumeOptions{NoClickHouse: c.op.options.NoClickHouse, Extensions: c.op.options.Extensions}
	run, err := c.op.app.resume(ctx, j, rec, o, c.watch(), c.op)
	if err != nil {
		return c.refused(ctx, id, errors.Join(err, j.Close(ctx)))
	}
	run.children.of = x
	if files := c.filesFor(x); len(files) == len(run.started.Files) {
		run.started.Files = files // its process may have died before it recorded them
	}
	return run, nil, nil
}

// masked returns which of several tries a child is without secrets: the header of its journal has it, and
// a run that resumes begins with that.
func (c *children) masked(t *sounding.Trial) *sounding.Trial {
	if t == nil {
		return nil
	}
	m := &sounding.Trial{}
	if err := json.Unmarshal(c.op.run.secrets.JSON(encoded(t)), m); err != nil {
		panic("windlass: cannot read its own data: " + err.Error())
	}
	return m
}

// filesFor returns the files of the run of a child. A try of the whole cascade has those of its parent.
func (c *children) filesFor(x *engine.Child) []engine.File {
	if x.How == echo.ChildSounding {
		return c.op.run.started.Files
	}
	return filesOf(x.Images)
}

// filesOf returns the images that a validator is to see as files of its run.
func filesOf(images []echo.Part) []engine.File {
	var files []engine.File
	for i := range images {
		kind, data, ok := echo.AttachmentData(&images[i])
		if !ok {
			continue // what is not in the record cannot be shown again
		}
		sum := sha256.Sum256(data)
		files = append(files, engine.File{
			Input: fmt.Sprint("shown_image_", len(files)+1), Type: kind, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Shown: true, URL: images[i].URL,
		})
	}
	return files
}

// checkChild holds the header of a session against what is to be begun under its id.
func (c *children) checkChild(x *engine.Child, h *journal.Header) error {
	wrong := &NotChildError{SessionID: h.SessionID, Parent: x.Parent, Key: x.Key}
	switch {
	case h.ChildOf == "":
		wrong.Why = "nothing has begun it but a person or a program"
	case h.ChildOf != x.Parent || h.ChildKey != x.Key:
		wrong.Why = fmt.Sprintf("it is what session %s begins at %s", h.ChildOf, h.ChildKey)
	case len(h.Redactions)+len(c.op.run.header.Redactions) > 0: // texts of its cascade may be taken out, there or here
		return nil
	case !sameJSON(c.op.run.secrets.JSON(encoded(x.Cascade.Cascade)), h.Cascade):
		wrong.Why = "it runs another cascade"
	default:
		return nil
	}
	return wrong
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(encoded(x)) == string(encoded(y))
}

// refused is a child that cannot begin or go on: an outcome, unless the reason is the record of
// windlass, or the end of ctx.
func (c *children) refused(ctx context.Context, id string, err error) (*Run, *effect.ChildOutcome, error) {
	switch failure.KindOf(err) { //nolint:exhaustive // what is the child's own is an outcome
	case failure.Interrupted:
		return nil, nil, interrupted(ctx, err)
	case failure.StorageFailed, failure.SessionExists, failure.Damaged, failure.OtherVersion:
		return nil, nil, &effect.RecordError{Err: fmt.Errorf("session %s: %w", id, err)}
	case failure.InvalidInput:
		return nil, failedChild(id, echo.StopInput, c.op.run.secrets.Text(err.Error())), nil
	case failure.SessionBusy:
		return nil, failedChild(id, echo.StopError, "another process runs the session: resume when it has ended"), nil
	}
	return nil, failedChild(id, echo.StopError, c.op.run.secrets.Text(err.Error())), nil
}

// failedChild is the outcome of a child without a run.
func failedChild(id string, reason echo.StopReason, message string) *effect.ChildOutcome {
	return &effect.ChildOutcome{
		ChildEnd: echo.ChildEnd{Session: id, Status: echo.StatusFailed, Reason: reason},
		Error:    &echo.Failure{Kind: string(reason), Message: message},
	}
}

// copy makes the session of a child of what the session that it is a copy of has, and resumes it
// there.
func (c *children) copy(ctx context.Context, x *engine.Child, id string, original *journal.Recording) (*Run, *effect.ChildOutcome, error) {
	a := c.op.app
	o := ForkOptions{ResumeOptions: ResumeOptions{NoClickHouse: c.op.options.NoClickHouse, Extensions: c.op.options.Extensions}}
	h, err := forkHeader(original.Header, id, uint64(len(original.Entries)), o)
	if err != nil {
		return c.refused(ctx, id, err)
	}
	h.ChildOf, h.ChildKey, h.Root, h.Depth = x.Parent, x.Key, cmp.Or(c.op.run.header.Root, x.Parent), x.Depth
	if err := c.checkChild(x, &h); err != nil {
		return nil, nil, &effect.RecordError{Err: err}
	}
	j, err := a.createJournal(ctx, h)
	if err != nil {
		return c.refused(ctx, id, err)
	}
	rec, err := copyEntries(ctx, j, h, original.Entries)
	if err == nil {
		err = copyChanges(a.home, original.Header.SessionID, original.Entries, id)
	}
	if err != nil {
		return c.refused(ctx, id, errors.Join(err, j.Close(ctx), removeSession(filepath.Dir(j.Path()), "")))
	}
	return c.reopen(ctx, x, j, rec)
}
