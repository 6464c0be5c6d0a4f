package effect

import (
	"errors"
	"sync/atomic"

	"github.com/windlass-run/windlass/echo"
)

// redacted says what of a recording cannot be made again, as texts were taken out of it after it was
// made. What has a mark in place of a text is taken as it is recorded. What was sent in a visit after
// a message was redacted there cannot be made again either. All else is compared as ever.
type redacted struct {
	marks echo.RedactionMarks
	since map[echo.Key]uint64 // the first entry of each visit with a redacted message or a mark
	first uint64              // of all visits
	// changed are the entries that changed without a mark, perhaps, and zeros the first with a number
	// that is 0 now: texts that were made of it have no mark.
	changed map[uint64]bool
	zeros   uint64
	taken   atomic.Int64 // how often something was taken as it is recorded
}

// Redactions are what was redacted of a recording after it was made.
type Redactions struct {
	Messages []echo.Hash
	Entries  []uint64 // that changed; nil: those with a mark
	Zeros    uint64   // the first entry that may have a number that is 0 now; 0: none has
}

// newRedacted returns nil when nothing was redacted.
func newRedacted(of Redactions, entries []*echo.Entry) *redacted {
	if len(of.Messages) == 0 {
		return nil
	}
	x := &redacted{marks: echo.MarksOf(of.Messages), since: map[echo.Key]uint64{}, changed: map[uint64]bool{}, zeros: of.Zeros}
	for _, seq := range of.Entries {
		x.changed[seq] = true
	}
	for _, e := range entries {
		if text, err := e.AppendJSON(nil); !x.changed[e.Seq] && (err != nil || !x.in(text)) {
			continue
		}
		if x.first == 0 {
			x.first = e.Seq
		}
		if visit := e.Key.VisitKey(); x.since[visit] == 0 {
			x.since[visit] = e.Seq
		}
	}
	return x
}

// in reports whether one of some texts has a mark.
func (x *redacted) in(texts ...[]byte) bool {
	return x != nil && x.marks.In(texts...)
}

// after reports whether something was redacted before an entry, or in it, that it may depend on: in its
// visit or, for what selects of other visits, anywhere.
func (x *redacted) after(e *echo.Entry) bool {
	if x == nil || x.afterZero(e) {
		return x != nil
	}
	since := x.since[e.Key.VisitKey()]
	if dependsOnAll(e) && x.first > 0 && x.first <= e.Seq {
		return true
	}
	if isCandidate(e) && x.first > 0 && x.first <= e.Seq {
		return true
	}
	if e.NodeType == echo.NodeInter || e.NodeType == echo.NodeMenu || e.Key.Purpose() == echo.PurposeSelect {
		return since > 0 || x.first > 0 && x.first <= e.Seq // it also depends on the task, which is recorded after it
	}
	return since > 0 && since <= e.Seq
}

// dependsOnAll reports whether an entry may depend on all that was recorded before it, in whatever visit: what a
// validator does on the input of the run and, before a phase, on what that renders; a candidate on all that
// its templates are given; its rewriting on the same, judges and aggregators on other sessions, too.
func dependsOnAll(e *echo.Entry) bool {
	switch e.Key.Purpose() { //nolint:exhaustive // the others depend on their visit
	case echo.PurposeValidator, echo.PurposeRewrite, echo.PurposeJudge, echo.PurposeAggregate:
		return true
	}
	return ofCandidates[e.NodeType]
}

// ofCandidates are entries that say what candidates are, what was said of them, and which of them was kept.
var ofCandidates = map[echo.NodeType]bool{echo.NodeCandidate: true, echo.NodeBallot: true, echo.NodeChoice: true}

// excuse returns the difference between a recorded entry and that of now, nil when there is none or
// when it comes of a redaction.
func (x *redacted) excuse(recorded, now *echo.Entry, difference error) error {
	if difference == nil || x == nil {
		return difference
	}
	for same := *now; difference != nil; difference = compare(recorded, &same) {
		var d *DivergenceError
		if !errors.As(difference, &d) || !x.excuses(d.Field, recorded, &same) {
			return x.explain(difference)
		}
	}
	x.taken.Add(1)
	return nil
}

// excuses reports whether a field differs for a redaction; then now has it as it is recorded.
func (x *redacted) excuses(field string, recorded, now *echo.Entry) bool {
	taken := x.changed[recorded.Seq] || x.afterZero(recorded)
	switch {
	case field == "content" && (taken || x.in(recorded.Message.JSON(), now.Message.JSON())):
		now.Message = recorded.Message
	case field == "tool" && (taken || x.in(MustJSON(recorded.Tool), MustJSON(now.Tool))):
		now.Tool = recorded.Tool
	case field == "error" && (taken || x.in(MustJSON(recorded.Error), MustJSON(now.Error))):
		now.Error = recorded.Error
	case field == "selection" && x.after(recorded):
		now.Selection = recorded.Selection
	case field != "data":
		return false
	case x.changed[recorded.Seq], saysContent[recorded.NodeType] && taken, x.in(recorded.Data, now.Data),
		(dependsOnSizes[recorded.NodeType] || ofCandidates[recorded.NodeType] || isCandidate(recorded)) && x.after(recorded):
		now.Data = recorded.Data
	default:
		return recorded.NodeType == echo.NodePhaseEnd && x.after(recorded) && sameFigures(recorded, now)
	}
	return true
}

// dependsOnSizes are entries that say nothing but what follows from what is sent.
var dependsOnSizes = map[echo.NodeType]bool{echo.NodeSelection: true, echo.NodeGuard: true, echo.NodeInter: true, echo.NodeMenu: true}

// saysContent are entries whose data may be made of numbers that were taken out.
var saysContent = map[echo.NodeType]bool{
	echo.NodePhaseEnd: true, echo.NodeRunEnd: true, echo.NodeState: true, echo.NodeHandoff: true, echo.NodeCallout: true, echo.NodeWarning: true,
	echo.NodeChildStart: true, echo.NodeCandidate: true, echo.NodeBallot: true, echo.NodeChoice: true, echo.NodeWait: true,
}

// isCandidate reports whether an entry says that a child begins which is one of several tries of a cascade. Its
// hash and its species are those of the cascade, from which texts may have been taken out.
func isCandidate(e *echo.Entry) bool {
	d, err := echo.Read[echo.ChildStart](e)
	return err == nil && d.How == echo.ChildSounding
}

// afterZero reports whether an entry may be made of a number that is 0 now.
func (x *redacted) afterZero(e *echo.Entry) bool { return x.zeros > 0 && x.zeros <= e.Seq }

// takesTool reports whether the request of a recorded tool is not what the run would ask for a redaction.
func (x *redacted) takesTool(e *echo.Entry, recorded, now []byte) bool {
	return x != nil && (x.changed[e.Seq] || x.afterZero(e) || x.in(recorded, now))
}

// sameFigures gives the end of a phase the recorded figures of views, which depend on what was sent.
// It reports whether that changes it.
func sameFigures(recorded, now *echo.Entry) bool {
	was, err := echo.Read[echo.PhaseEnd](recorded)
	if err != nil {
		return false
	}
	is, err := echo.Read[echo.PhaseEnd](now)
	if err != nil || is.Masked == was.Masked && is.Recalls == was.Recalls && is.Rereads == was.Rereads {
		return false
	}
	is.Masked, is.Recalls, is.Rereads = was.Masked, was.Recalls, was.Rereads
	now.Set(is)
	return true
}

// explain marks a difference that may come of a redaction: the run goes another way, as what decided
// its way was taken out.
func (x *redacted) explain(err error) error {
	var d *DivergenceError
	if x == nil || !errors.As(err, &d) {
		return err
	}
	d.Hidden = x.zeros > 0
	if x.first > 0 && x.first <= d.Seq {
		d.Redacted = d.Field == "" || d.Node == echo.NodeVerdict
	}
	return err
}

// Redacted reports whether a recorded entry, or what a run would record in its place, has a mark of
// a redaction: then the run continues with what is recorded.
func (r *Recorder) Redacted(e *echo.Entry, now *echo.Message) bool {
	recorded := e.Message
	if r.redacted == nil || recorded == nil || now == nil || recorded.Hash() == now.Hash() && recorded.Redacted() == nil {
		return false
	}
	return recorded.Redacted() != nil || r.redacted.in(recorded.JSON(), now.JSON()) || r.redacted.afterZero(e)
}

// AfterRedaction reports whether a recorded entry may depend on what was redacted.
func (r *Recorder) AfterRedaction(recorded *echo.Entry) bool { return r.redacted.after(recorded) }

// HashOf returns the content hash that an output had whose end is recorded, if texts were taken out of it since;
// "" for none.
func HashOf(r *Recorder, node echo.NodeType, key echo.Key) echo.Hash {
	e := r.Peek(node, key)
	if e == nil || r.redacted == nil {
		return ""
	}
	return echo.OutputHash(e)
}

// SomethingRedacted reports whether anything was redacted before a recorded entry, or in it.
func (r *Recorder) SomethingRedacted(e *echo.Entry) bool {
	return r.redacted != nil && r.redacted.first > 0 && r.redacted.first <= e.Seq
}

// Take is [Recorder.Next] for what cannot be made again for a redaction: it is counted.
func (r *Recorder) Take(node echo.NodeType, key echo.Key) *echo.Entry {
	e := r.Next(node, key)
	if e != nil && r.redacted != nil {
		r.redacted.taken.Add(1)
	}
	return e
}

// CountTaken counts something that was taken as it is recorded. Something was redacted.
func CountTaken(r *Recorder) { r.redacted.taken.Add(1) }

// InRedacted reports whether something was redacted in a visit: what is sent in it by the recording is
// not what the run would send.
func InRedacted(r *Recorder, visit echo.Key) bool {
	return r.redacted != nil && r.redacted.since[visit] > 0
}

// Taken returns how many entries were taken as they are recorded, as they come of what was redacted,
// and could not be compared.
func (r *Recorder) Taken() int {
	if r.redacted == nil {
		return 0
	}
	return int(r.redacted.taken.Load())
}
