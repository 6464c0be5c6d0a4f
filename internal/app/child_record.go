package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
)

// relatives finds the children of sessions on this machine, and what is recorded of them.
type relatives struct{ *App }

// outcomeRecorded returns how a session ended whose end is recorded, by running it again with its
// record. When that is not possible, as with parts of it redacted, it is what the end itself says.
func (a relatives) outcomeRecorded(ctx context.Context, rec *journal.Recording, e Extensions) (*effect.ChildOutcome, error) {
	id, end := rec.Header.SessionID, record.EndOf(rec.Entries)
	if replay, err := a.Replay(rec.Header, e); err == nil {
		defer replay.Close() //nolint:errcheck // nothing was opened that could be lost
		replay.Spec.Recording = rec.Entries
		res, _ := replay.Runner.Run(ctx, replay.Spec)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if res.Status == end.Status && res.Reason == end.Reason {
			return tookOf(outcomeOf(id, res, end.Error), rec), nil
		}
	}
	fold := record.Of(rec.Entries)
	itself, copied := tookBy(rec.Entries)
	out := &effect.ChildOutcome{Totals: itself}
	out.Session, out.Status, out.Reason, out.Output, out.State = id, end.Status, end.Reason, end.Output, fold.Shared()
	out.SetCopied(copied)
	if end.Status != echo.StatusCompleted {
		out.Error = &echo.Failure{Kind: string(end.Reason), Message: end.Error}
	}
	return out, nil
}

// tookOf divides what a child took as the child of a fork: what it has copied was paid for in the session
// that it comes from.
func tookOf(out *effect.ChildOutcome, rec *journal.Recording) *effect.ChildOutcome {
	if rec.Header.ParentSeq > 0 {
		itself, copied := tookBy(rec.Entries)
		out.Totals = itself
		out.SetCopied(copied)
	}
	return out
}

// tookBy returns what a session and its children took by the entries that count, and what they have
// copied, which is not in that.
func tookBy(entries []*echo.Entry) (itself, copied effect.Totals) {
	counted := record.Counted(entries)
	if len(counted) == 0 {
		return itself, copied
	}
	origin := echo.OriginOf(counted[0])
	for _, e := range counted {
		switch to := &itself; e.NodeType { //nolint:exhaustive // the others take nothing
		case echo.NodeModelCall:
			if origin.Has(e) {
				to = &copied
			}
			to.CountRecorded(e)
		case echo.NodeChildEnd:
			out, err := effect.ChildOf(e)
			if err != nil {
				continue
			}
			copied = copied.Plus(out.CopiedTotals())
			if origin.Has(e) {
				copied = copied.Plus(out.Totals)
			}
		}
	}
	return itself.Plus(sumOfEnds(counted)), copied
}

func totalsOf(t record.Totals) effect.Totals {
	return effect.Totals{
		Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, UnknownCosts: t.UnknownCosts, Scripted: t.Scripted > 0, PretendUSD: t.PretendUSD, PriceAs: t.PriceAs,
	}
}

// sumOfEnds returns what children took whose ends are among entries that count, and were not copied.
func sumOfEnds(counted []*echo.Entry) (sum effect.Totals) {
	var copied echo.Origin
	for i, e := range counted {
		if i == 0 {
			copied = echo.OriginOf(e)
		}
		if e.NodeType != echo.NodeChildEnd || copied.Has(e) {
			continue
		}
		if out, err := effect.ChildOf(e); err == nil {
			sum = sum.Plus(out.Totals)
		}
	}
	return sum
}

// openChild is a child of a session that had not ended when the session was recorded.
type openChild struct {
	id      string // of its session
	entries []*echo.Entry
}

// openChildren returns the children of a session that it goes on with when it is resumed, as far as
// they are on this machine.
func (a relatives) openChildren(id string, entries []*echo.Entry) []openChild {
	ended, seen := map[string]bool{}, map[string]bool{}
	for _, e := range record.Kept(entries) {
		if e.NodeType != echo.NodeChildEnd {
			continue
		}
		if d, err := echo.Read[echo.ChildEnd](e); err == nil {
			ended[d.Session] = true
		}
	}
	var open []openChild
	for _, e := range entries {
		if e.NodeType != echo.NodeChildStart {
			continue
		}
		d, err := echo.Read[echo.ChildStart](e)
		own := echo.ChildSession(id, e.Key)
		if err != nil || ended[d.Session] || ended[own] || seen[own] {
			continue
		}
		seen[own] = true
		if rec, err := a.ReadJournal(own); err == nil {
			open = append(open, openChild{own, rec.Entries})
		}
	}
	return open
}

// taken returns what the children of the run have taken in its earlier lives that have not ended, and
// theirs.
func (c *children) taken() effect.Totals {
	return relatives{c.op.app}.takenByOpen(c.op.run.ID(), c.op.run.Recorded(), 0)
}

func (a relatives) takenByOpen(id string, entries []*echo.Entry, depth int) (sum effect.Totals) {
	if depth > cascade.MaxDepth {
		return sum
	}
	for _, child := range a.openChildren(id, entries) {
		var tally record.Tally
		for _, e := range child.entries {
			tally.Add(e)
		}
		sums := tally.Sums()
		own := totalsOf(sums.Totals)
		own.UnknownCosts -= sums.Background.UnknownCosts // which limit nothing
		sum = sum.Plus(own).Plus(sumOfEnds(record.Kept(child.entries))).Plus(a.takenByOpen(child.id, child.entries, depth+1))
	}
	return sum
}

// ranWhile returns for how long a child ran while its parent did, by what is recorded of both. A child
// that was resumed alone, or that outlived the last entry of its parent, has run longer.
func ranWhile(parent, child []*echo.Entry) (ran time.Duration) {
	if len(parent) == 0 || len(child) == 0 {
		return 0
	}
	copied, lives := echo.OriginOf(child[0]), livesOf(parent)
	for i, e := range child[1:] {
		before := child[i]
		if e.NodeType == echo.NodeResume || copied.Has(before) {
			continue
		}
		for _, life := range lives {
			ran += max(earlier(e.At, life[1]).Sub(later(before.At, life[0])), 0)
		}
	}
	return ran
}

// livesOf returns from when to when somebody ran a session.
func livesOf(entries []*echo.Entry) (lives [][2]time.Time) {
	from := 0
	for i, e := range entries {
		if e.NodeType == echo.NodeResume && i > 0 {
			lives, from = append(lives, [2]time.Time{entries[from].At, entries[i-1].At}), i
		}
	}
	return append(lives, [2]time.Time{entries[from].At, entries[len(entries)-1].At})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// check finds out whether the children of a session let it be resumed.
func (a relatives) check(rec *journal.Recording) error {
	if err := a.checkFailedChildren(rec); err != nil {
		return err
	}
	return a.checkChildrenFree(rec.Header.SessionID, rec.Entries, 0)
}

// BusyChildError says that a session cannot be resumed while another process runs a child of it.
type BusyChildError struct{ SessionID, Child string }

func (e *BusyChildError) Error() string {
	return fmt.Sprintf("session %s: another process runs its child %s, which it would wait for: resume it when that has ended", e.SessionID, e.Child)
}

// checkChildrenFree returns a [*BusyChildError] when another process runs a child, or one of its own,
// that the session would go on with.
func (a relatives) checkChildrenFree(id string, entries []*echo.Entry, depth int) error {
	if depth > cascade.MaxDepth {
		return nil
	}
	for _, child := range a.openChildren(id, entries) {
		if busy, err := journal.Busy(a.SessionDir(child.id)); err == nil && busy {
			return failure.New(failure.SessionBusy, &BusyChildError{id, child.id}, "")
		}
		if err := a.checkChildrenFree(child.id, child.entries, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// errUnchanged is why a run does not go on that failed of children which cannot go on.
var errUnchanged = errors.New("it failed of a child that cannot be resumed: a resume would end in the same way")

// checkFailedChildren returns an error when all that a resume would do again of a failed run is to take
// the ends of children that stay as they are.
func (a relatives) checkFailedChildren(rec *journal.Recording) error {
	failed := record.ResumptionOf(rec.Entries).Failed
	if len(failed) == 0 {
		return nil
	}
	for _, seq := range failed {
		switch e := rec.Entries[seq-1]; e.NodeType {
		case echo.NodeModelCall, echo.NodeToolCall:
			if e.Error != nil {
				return nil
			}
		case echo.NodeChildEnd:
			if e.Error != nil && a.childMayResume(e) {
				return nil
			}
		}
	}
	return failure.New(failure.NotResumable, &ResumeError{rec.Header.SessionID, errUnchanged}, "")
}

// childMayResume reports whether the session of a child that failed can be resumed, or begin.
func (a relatives) childMayResume(end *echo.Entry) bool {
	d, err := echo.Read[echo.ChildEnd](end)
	if err != nil {
		return false
	}
	rec, err := journal.Read(filepath.Join(a.SessionDir(d.Session), journal.File))
	if err != nil {
		return true // it never began, or is away: the run says it
	}
	return record.ResumptionOf(rec.Entries).Possible && a.checkFailedChildren(rec) == nil
}

// failedOf returns the kind of the error of a run that failed of a child, and the next step where the
// child's own error has one. It is that of the child when a model could not be asked, and else
// [failure.Failed].
func (c *children) failedOf(session string) (kind failure.Kind, try string) {
	c.mu.Lock()
	r := c.begun[session]
	c.mu.Unlock()
	if r != nil {
		<-r.done
		var own *failure.Error
		if errors.As(r.failed, &own) && (own.Kind == failure.ModelUnavailable || own.Kind == failure.Failed) {
			return own.Kind, own.Try
		}
	}
	if (relatives{c.op.app}).failedOfModel(session, 0) {
		return failure.ModelUnavailable, ""
	}
	return failure.Failed, ""
}

// failedOfModel reports whether a session has failed because a model could not be asked, by its record
// and those of its children.
func (a relatives) failedOfModel(session string, depth int) bool {
	rec, err := a.ReadJournal(session)
	if err != nil || depth > cascade.MaxDepth {
		return false
	}
	for _, seq := range record.ResumptionOf(rec.Entries).Failed {
		e := rec.Entries[seq-1]
		if e.Error == nil {
			continue
		}
		switch e.NodeType { //nolint:exhaustive // what is called
		case echo.NodeModelCall:
			if echo.ModelErrorKind(e.Error.Kind) != echo.ModelErrScript {
				return true
			}
		case echo.NodeChildEnd:
			if d, err := echo.Read[echo.ChildEnd](e); err == nil && a.failedOfModel(d.Session, depth+1) {
				return true
			}
		}
	}
	return false
}
