package effect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Options are what a [Recorder] is made of.
type Options struct {
	Log     *echo.Log // of the session; nil: a replay, which performs and records nothing
	Mask    Mask      // nil: no secrets are known
	Seams   Seams
	Effects Effects // perform what is not recorded; not used in a replay

	Recording []*echo.Entry   // of the run so far, in its order: the log has it
	SetAside  map[uint64]bool // numbers of entries of Recording that do not count
	Redacted  Redactions
	// Resumed makes the entry of the resumption, once, where the recording ends.
	Resumed func() *echo.Entry
}

// Recorder answers a run from its recording, compares what it would record, and passes on what is
// new where a branch is at the end of its recording. A run that does not follow gets a
// [*DivergenceError] and records nothing; a replay ends with an [*EndError]. It implements
// [Effects]; each branch uses it from one goroutine.
type Recorder struct {
	w         Writer
	effects   Effects
	recording *recording
	redacted  *redacted // nil: nothing was
	seams     Seams
	resumed   func() *echo.Entry

	once   sync.Once // guards failed: the resumption is recorded once
	failed error
	gone   atomic.Pointer[time.Duration] // without anybody running the session before it was resumed here
}

// NewRecorder returns what records a run.
func NewRecorder(o Options) *Recorder {
	return &Recorder{
		w: Writer{Log: o.Log, Mask: cmp.Or[Mask](o.Mask, NoMask{})}, effects: o.Effects, recording: newRecording(o.Recording, o.SetAside),
		seams: o.Seams.OrSystem(), resumed: o.Resumed, redacted: newRedacted(o.Redacted, o.Recording),
	}
}

// IsReplay reports whether nothing is performed or recorded.
func (r *Recorder) IsReplay() bool { return r.w.Log == nil }

// Pending returns the first recorded entry that a branch has not come to, nil when all it does is
// new. The zero Key is the trunk, which ends with the whole recording.
func (r *Recorder) Pending(branch echo.Key) *echo.Entry { return r.recording.pending(branch) }

// Peek returns the next recorded entry of a type and key without using it, or nil.
func (r *Recorder) Peek(node echo.NodeType, key echo.Key) *echo.Entry {
	return r.recording.peek(node, key)
}

// Next uses and returns the next recorded entry of a key's branch if it has that type and key.
func (r *Recorder) Next(node echo.NodeType, key echo.Key) *echo.Entry {
	e, _ := r.recording.follow(node, key)
	return e
}

// Append records something that follows from what is recorded already, without the secrets in it.
func (r *Recorder) Append(e *echo.Entry) error {
	recorded, err := r.follow(e.NodeType, e.Key)
	if recorded != nil {
		return r.redacted.excuse(recorded, e, sameButSecrets(r.w.Mask, recorded, e))
	}
	if err != nil {
		return err
	}
	if err := r.w.Log.Append(withoutSecrets(r.w.Mask, e)); err != nil {
		return &RecordError{Err: err}
	}
	return nil
}

// Commit begins to make everything recorded durable.
func (r *Recorder) Commit() {
	if r.w.Log != nil {
		r.w.Log.Commit()
	}
}

// Model implements [Effects].
func (r *Recorder) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	e, err := r.follow(echo.NodeModelCall, key)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return r.effects.Model(ctx, key, req)
	case asRecorded(r.w.Mask, req, e.RequestHash):
	case r.redacted.after(e):
		r.redacted.taken.Add(1)
	default:
		return nil, &DivergenceError{Seq: e.Seq, Node: e.NodeType, Key: key, Field: "request", Recorded: e.RequestHash, Now: req.Hash()}
	}
	return answerOf(e, req)
}

// Tool implements [Effects].
func (r *Recorder) Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error) {
	started := r.Next(echo.NodeToolStart, key)
	e, err := r.follow(echo.NodeToolCall, key)
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return r.result(e, req)
	case started != nil && !mayRunAgain(spec, req):
		res := ToolResult{Failed: true, Kind: KindUnfinished, Parts: echo.Text(UnfinishedText(req.Name))}
		return r.w.Result(key, req, res, 0)
	}
	return r.effects.Tool(ctx, key, spec, req)
}

func (r *Recorder) result(e *echo.Entry, req ToolRequest) (*echo.Message, error) {
	recorded, now := MustJSON(withoutSecrets(r.w.Mask, e).Tool), MustJSON(toolUse(r.w.call(req)))
	if string(recorded) != string(now) && !r.redacted.takesTool(e, recorded, now) || e.Message == nil {
		return nil, r.redacted.explain(differs(e, "tool", string(recorded), string(now)))
	}
	return e.Message, nil
}

// Value implements [Effects].
func (r *Recorder) Value(ctx context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error) {
	for _, node := range []echo.NodeType{echo.NodeValue, echo.NodeInter, echo.NodeHandoff} {
		if e := r.Next(node, key); e != nil {
			return e.Data, nil
		}
	}
	if len(r.recording.items) > 0 && r.recording.pending(key.Branch()) != nil {
		return nil, nil // there was nothing to know
	}
	if _, err := r.follow(echo.NodeValue, key); err != nil {
		return nil, err
	}
	return r.effects.Value(ctx, key, site, read)
}

// follow uses the recorded entry that a run comes to; nil without an error when that is new.
func (r *Recorder) follow(node echo.NodeType, key echo.Key) (*echo.Entry, error) {
	recorded, instead := r.recording.follow(node, key)
	switch {
	case recorded != nil:
		return recorded, nil
	case instead != nil:
		return nil, r.redacted.explain(other(instead, node, key))
	case r.w.Log == nil:
		return nil, &EndError{Node: node, Key: key}
	}
	return nil, r.Resume()
}

// Resume records the resumption once, before anything new: a run that does not follow its
// recording leaves no trace in it.
func (r *Recorder) Resume() error {
	if r.resumed == nil {
		return nil
	}
	r.once.Do(func() {
		if err := r.w.Log.Append(r.resumed()); err != nil {
			r.failed = &RecordError{Err: err}
			return
		}
		gone := max(r.seams.Now().Sub(r.recording.end), 0)
		r.gone.Store(&gone)
	})
	return r.failed
}

// Complete is called at the end of a run with what it recorded last. The error: more is recorded.
func (r *Recorder) Complete(node echo.NodeType, key echo.Key) error {
	if left := r.recording.pending(echo.Key{}); left != nil {
		return r.redacted.explain(other(left, node, key))
	}
	return nil
}

// Missing returns the error of a run that came to what is not recorded while more is.
func (r *Recorder) Missing(err error) error {
	var end *EndError
	if left := r.recording.pending(echo.Key{}); left != nil && errors.As(err, &end) {
		return r.redacted.explain(other(left, end.Node, end.Key))
	}
	return err
}

// Time returns a branch's time, within its recording that of the last entry used, and for how long
// nobody had run the session until then.
func (r *Recorder) Time(branch echo.Key) (at time.Time, away time.Duration) {
	if len(r.recording.items) == 0 && r.w.Log != nil {
		return r.seams.Now(), 0
	}
	if gone := r.gone.Load(); gone != nil && r.recording.pending(branch) == nil {
		return r.seams.Now(), r.recording.away + *gone
	}
	return r.recording.clock(branch)
}

// Newest returns the time of the session of a recorder, whatever its branches have come to: until the run goes on in
// one of them that of the newest entry of the recording; and for how long nobody had run the session
// until then.
func Newest(r *Recorder) (at time.Time, away time.Duration) {
	gone := r.gone.Load()
	switch {
	case gone != nil:
		return r.seams.Now(), r.recording.away + *gone
	case len(r.recording.items) == 0 && r.w.Log != nil:
		return r.seams.Now(), 0
	}
	return r.recording.end, r.recording.away
}

// Sleep waits, unless what follows is recorded.
func (r *Recorder) Sleep(ctx context.Context, branch echo.Key, d time.Duration) error {
	if r.recording.pending(branch) != nil {
		return ctx.Err()
	}
	return r.seams.Sleep(ctx, d)
}

// mayRunAgain reports whether a tool that had begun may run again; validators ask about now.
func mayRunAgain(spec ToolSpec, req ToolRequest) bool {
	return spec.Idempotent || req.Site.Validator != ""
}

// KindUnfinished is the kind of failure of a tool that had begun when the run was stopped.
const KindUnfinished = "unfinished"

// UnfinishedText is the result of such a tool, for the model.
func UnfinishedText(tool string) string {
	return fmt.Sprintf("The run was stopped while %s ran. Whether it did what it should is not known, and it was not run again, "+
		"as that may do harm. Find out what it did before calling it again.", tool)
}
