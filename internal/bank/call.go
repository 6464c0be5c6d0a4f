package bank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// Call implements [memory.Banks].
func (s *Store) Call(ctx context.Context, r *memory.Request) (*echo.MemoryCall, error) {
	f, err := s.file(r.Bank)
	if err != nil {
		return nil, err
	}
	h, err := f.Read()
	if err != nil {
		return nil, err
	}
	if r.Seen.Last() > h.Last() {
		return nil, damaged(f.Path(), int(h.Last())+1, errors.New("this run has seen more of it: it was cut off, or is another file"))
	}
	x := &call{Request: r, file: f, by: Writer{Session: r.Session, Began: s.began, Key: r.Key}}
	x.run(h)
	switch {
	case len(x.result.Changes) > 0 || x.done(h) != nil:
		return x.write(ctx)
	case len(x.result.Read) > 0:
		return x.read(ctx, h)
	}
	return x.told(&x.result), nil
}

// call is one call of the memory tool, with what it comes to in the bank as the run sees it.
type call struct {
	*memory.Request
	file   *file
	by     Writer
	result memory.Result
}

// run runs the command on the bank as the run sees it: what other calls of the same run have written is in it by now.
func (x *call) run(h *History) {
	x.Seen = h.withOwn(x.Seen, x.by)
	x.result = x.Command.Run(h.Files(x.Seen))
}

// told returns what the call has come to, but for what it has read and written.
func (x *call) told(res *memory.Result) *echo.MemoryCall {
	out := x.Told(res)
	out.Project = x.file.ref.Project()
	return out
}

// done returns the entry with versions that an earlier process has written for the same call.
func (x *call) done(h *History) *Entry {
	return h.by(x.by, x.Command.Command, func(e *Entry) bool { return e.Call == x.Hash && len(e.Versions) > 0 })
}

// noted returns the entry that notes that the run is told of versions, nil where an earlier process has written it.
func (x *call) noted(h *History, reads []Read) (*Entry, error) {
	if len(reads) == 0 || h.by(x.by, x.Command.Command, func(e *Entry) bool { return e.Call == x.Hash && slices.Equal(e.Reads, reads) }) != nil {
		return nil, nil //nolint:nilnil // see ledger.File.Append
	}
	e := &Entry{By: x.by, Command: x.Command.Command, Call: x.Hash, Reads: reads}
	return e, x.file.seal(e, h.Last()+1)
}

// read notes which versions the run is told of.
func (x *call) read(ctx context.Context, h *History) (*echo.MemoryCall, error) {
	out := x.told(&x.result)
	var reads []Read
	for _, path := range x.result.Read {
		if v, is := current(h.Heads(path, x.Seen.Of(path))); is {
			reads = append(reads, Read{Path: path, Version: v.ID})
			out.Read = append(out.Read, echo.MemoryVersion{Path: path, Version: v.ID})
		}
	}
	_, _, err := x.file.Append(ctx, func(h *History) (*Entry, error) { return x.noted(h, reads) })
	return out, err
}

// write writes what the command changes, unless another session has changed it since the run saw it.
func (x *call) write(ctx context.Context) (*echo.MemoryCall, error) {
	var out *echo.MemoryCall
	e, _, err := x.file.Append(ctx, func(h *History) (e *Entry, err error) {
		if had := x.done(h); had != nil {
			out = x.again(h, had)
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if x.run(h); len(x.result.Changes) == 0 { // for what another call of the run has written since
			out = x.told(&x.result)
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		if out = x.conflict(h); out != nil {
			var reads []Read
			for _, v := range out.Read {
				reads = append(reads, Read{Path: v.Path, Version: v.Version})
			}
			return x.noted(h, reads)
		}
		e = &Entry{By: x.by, Command: x.Command.Command, Call: x.Hash, Versions: next(h, x.result.Changes)}
		return e, x.file.seal(e, h.Last()+1)
	})
	if err == nil && out == nil {
		out = x.wrote(e)
	}
	return out, err
}

// again returns what the call has come to, by the entry that an earlier process has written. Of other calls of the run that
// ran at the same time, more may be seen now than then: what counts is the bank as the entry found it.
func (x *call) again(h *History, had *Entry) *echo.MemoryCall {
	if then := x.Command.Run(h.Files(memory.Seen{Start: had.Seq - 1})); !then.Failed {
		x.result = then
	}
	return x.wrote(had)
}

// wrote returns what the call has come to, by its entry.
func (x *call) wrote(e *Entry) *echo.MemoryCall {
	out := x.told(&x.result)
	for _, v := range e.Versions {
		out.Wrote = append(out.Wrote, echo.MemoryVersion{Path: v.Path, Version: v.ID, Gone: v.Gone, From: v.From})
		out.Seen = append(out.Seen, echo.MemorySeen{Path: v.Path, At: e.Seq})
	}
	return out
}

// next returns the versions that changes make, each after all that its path has now.
func next(h *History, changes []memory.Change) (out []Version) {
	for _, c := range changes {
		v := Version{Path: c.Path, Gone: c.Gone, From: c.From}
		if !c.Gone {
			v.Text, v.Hash = c.Text, echo.TextHash([]byte(c.Text))
		}
		v.Parents = ids(h.Heads(c.Path, h.Last()))
		slices.Sort(v.Parents)
		out = append(out, v)
	}
	return out
}

func ids(heads []Placed) (out []string) {
	for _, v := range heads {
		out = append(out, v.ID)
	}
	return out
}

// conflict tells the model what others have written since the run saw it, where the command does not fit that any more;
// nil: it does. The run sees it from here on, so that the model can decide again.
func (x *call) conflict(h *History) *echo.MemoryCall {
	changed := x.changed(h, x.result.Paths)
	why := "so nothing was written"
	if len(changed) == 0 {
		now := x.Command.Run(h.Files(h.Now()))
		if !now.Failed {
			return nil
		}
		if changed = x.changed(h, h.Paths()); len(changed) == 0 {
			return x.told(&now)
		}
		why += ": " + strings.TrimPrefix(now.Text, "Error: ")
	}
	out := x.told(&memory.Result{Failed: true})
	out.Conflict = true
	var text strings.Builder
	fmt.Fprintf(&text, "Error: Since this run began, another one, or a person, has changed %s, %s.", listed(changed), strings.TrimSuffix(why, "."))
	for _, path := range changed {
		out.Seen = append(out.Seen, echo.MemorySeen{Path: path, At: h.Last()})
		v, is := h.Current(path)
		switch {
		case text.Len() >= memory.MaxAnswer:
		case !is:
			fmt.Fprintf(&text, "\n\n%s does not exist any more.", path)
		case slices.Contains(x.result.Paths, path):
			out.Read = append(out.Read, echo.MemoryVersion{Path: path, Version: v.ID})
			fmt.Fprintf(&text, "\n\n%s", memory.Shown(path, v.Text))
		}
	}
	text.WriteString("\n\nDecide again with what is there now.")
	out.Text = text.String()
	return out
}

// maxListed is how many paths a conflict names at once.
const maxListed = 20

func listed(paths []string) string {
	if more := len(paths) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxListed], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// changed returns those of some paths that are otherwise now than the run sees them.
func (x *call) changed(h *History, paths []string) (out []string) {
	for _, path := range paths {
		if !slices.Equal(ids(h.Heads(path, x.Seen.Of(path))), ids(h.Heads(path, h.Last()))) {
			out = append(out, path)
		}
	}
	return out
}
