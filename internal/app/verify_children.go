package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
)

// ChildVerification is what [VerifyTree] found of a child.
type ChildVerification struct {
	SessionID string         `json:"session_id"`
	Name      string         `json:"name"` // by which its parent knows it
	How       echo.ChildKind `json:"how"`
	Key       echo.Key       `json:"key"`
	Missing   bool           `json:"missing,omitempty"` // its journal is not on this machine, or it had not begun when its parent stopped
	Unbegun   bool           `json:"unbegun,omitempty"` // it could not begin, as its parent says, and there is none

	*Verification `json:"record,omitempty"` // nil: there is no journal
}

// VerifyTree is [App.Verify] for a session and its children on this machine, and theirs. It holds when
// each of them does, and when what they say of each other agrees.
func VerifyTree(ctx context.Context, a *App, rec *journal.Recording, e Extensions) (*Verification, error) {
	return (relatives{a}).verify(ctx, rec, e, 0)
}

func (a relatives) verify(ctx context.Context, rec *journal.Recording, e Extensions, depth int) (*Verification, error) {
	v, err := a.Verify(ctx, rec, e)
	if err != nil || depth > cascade.MaxDepth {
		return v, err
	}
	for _, b := range begunBy(rec.Entries) {
		child, err := a.verifyChild(ctx, rec, b, e, depth)
		if err != nil {
			return nil, err
		}
		v.Children = append(v.Children, child)
		if of := child.Verification; of != nil && !of.Holds && v.Holds {
			v.Holds, v.Difference = false, fmt.Sprintf("its child %s at %s (session %s): %s", child.Name, child.Key, child.SessionID, of.Difference)
		}
	}
	return v, nil
}

// begunChild is a child that a session says that it has begun.
type begunChild struct {
	key   echo.Key
	seq   uint64 // of the start
	start echo.ChildStart
	end   *effect.ChildOutcome // nil: none is recorded, or counts
}

// begunBy returns the children that the entries of a session count.
func begunBy(entries []*echo.Entry) []*begunChild {
	var list []*begunChild
	for _, e := range record.Counted(entries) {
		switch e.NodeType { //nolint:exhaustive // the others are not of children
		case echo.NodeChildStart:
			if d, err := echo.Read[echo.ChildStart](e); err == nil {
				list = append(list, &begunChild{key: e.Key, seq: e.Seq, start: d})
			}
		case echo.NodeChildEnd:
			out, err := effect.ChildOf(e)
			i := slices.IndexFunc(list, func(b *begunChild) bool {
				return err == nil && b.end == nil && (e.Key == b.key || e.Key == echo.RunKey().Named(echo.StepAsync, b.start.Session))
			})
			if i >= 0 {
				list[i].end = out
			}
		}
	}
	return list
}

// verifyChild verifies a child, and what it and its parent say of each other.
func (a relatives) verifyChild(ctx context.Context, parent *journal.Recording, b *begunChild, e Extensions, depth int) (*ChildVerification, error) {
	id := b.start.Session
	if b.end != nil {
		id = cmp.Or(b.end.Session, id)
	}
	v := &ChildVerification{SessionID: id, Name: b.start.Name, How: b.start.How, Key: b.key}
	rec, err := a.ReadJournal(id)
	switch {
	case failure.Is(err, failure.UnknownSession):
		v.Missing = true
		if b.end != nil && b.end.Status == echo.StatusFailed && b.end.Totals.Calls == 0 {
			v.Missing, v.Unbegun = false, true
		}
		return v, nil
	case errors.Is(err, journal.ErrNotBegun) && b.end == nil: // its process died before the first line was whole
		v.Missing = true
		return v, nil
	case err != nil:
		v.Verification = &Verification{SessionID: id, Difference: err.Error()}
		return v, nil //nolint:nilerr // it is what was found
	}
	if v.Verification, err = a.verify(ctx, rec, e, depth+1); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		v.Verification = &Verification{SessionID: id, Difference: err.Error()}
		return v, nil
	}
	differs := disagreement(parent, b, rec)
	if differs == "" && v.Holds && len(parent.Header.Redactions)+len(rec.Header.Redactions) == 0 {
		differs = disagreementOfState(parent, b, rec, v.state)
	}
	if v.Holds && differs != "" {
		v.Holds, v.Difference = false, differs
	}
	return v, nil
}

// disagreementOfState compares the state that a session has taken of a child with that with which the
// replay of the child ends, unless it has ended again since.
func disagreementOfState(parent *journal.Recording, b *begunChild, child *journal.Recording, state map[string]any) string {
	last := record.EndOf(child.Entries)
	if b.end == nil || b.end.State == nil || b.end.Status != last.Status || b.end.Reason != last.Reason {
		return ""
	}
	what, parents, childs := stateDiffers(b.end.State, state)
	if what == "" {
		return ""
	}
	return fmt.Sprintf("session %s says that %s in the state that it ends with is %v, and session %s comes to %v", parent.Header.SessionID, what, parents, child.Header.SessionID, childs)
}

// stateDiffers returns the first value, by name, that is not the same in two states.
func stateDiffers(parents, childs map[string]any) (what, parent, child string) {
	names := maps.Clone(parents)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, childs)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if p, c := valueText(parents, name), valueText(childs, name); !sameJSON(json.RawMessage(p), json.RawMessage(c)) {
			return "the value " + name, p, c
		}
	}
	return "", "", ""
}

func valueText(state map[string]any, name string) string {
	if value, ok := state[name]; ok {
		return string(effect.MustJSON(value))
	}
	return "not there"
}

// firstState returns the state that the session of a header began with.
func firstState(h *journal.Header) map[string]any {
	var started Started
	if err := json.Unmarshal(h.Options, &started); err != nil {
		return nil
	}
	return started.state()
}

// disagreement returns what a session and its child say of each other that is not the same, "" when
// all is.
func disagreement(parent *journal.Recording, b *begunChild, child *journal.Recording) string {
	p, c := &parent.Header, &child.Header
	own := echo.ChildSession(p.SessionID, b.key)
	copied := b.seq <= p.ParentSeq // a fork has it of another session, whose child it is
	said := func(what string, parents, childs any) string {
		return fmt.Sprintf("session %s says that %s is %v, and session %s that it is %v", p.SessionID, what, parents, c.SessionID, childs)
	}
	switch {
	case !copied && b.start.Session != own:
		return fmt.Sprintf("session %s says that it begins session %s at %s, which would be session %s", p.SessionID, b.start.Session, b.key, own)
	case !copied && c.ChildOf != p.SessionID:
		return said("the parent", p.SessionID, cmp.Or(c.ChildOf, "nobody"))
	case c.ChildKey != b.key:
		return said("the key", b.key, c.ChildKey)
	case !sameCascade(parent, b, child):
		return fmt.Sprintf("session %s runs another cascade than the one that session %s has recorded for it (%s)", c.SessionID, p.SessionID, b.start.Hash)
	case len(p.Redactions)+len(c.Redactions) > 0:
		return "" // what either said may be taken out
	}
	if input, err := json.Marshal(b.start.Input); err != nil || !sameJSON(input, c.Input) {
		return said("the input", string(input), string(c.Input))
	}
	if what, parents, childs := stateDiffers(b.start.State, firstState(c)); what != "" {
		return said(what+" in the state that it begins with", parents, childs)
	}
	if b.end == nil {
		return ""
	}
	return disagreementOfEnd(b.end, child, said)
}

// sameCascade reports whether a child runs what its parent has recorded: in its library, or when it was
// found by a name of a model.
func sameCascade(parent *journal.Recording, b *begunChild, child *journal.Recording) bool {
	var lib library.Recorded
	if len(parent.Header.Library) > 0 && json.Unmarshal(parent.Header.Library, &lib) == nil {
		if of := lib.Cascades[b.start.Hash]; of != nil {
			return sameJSON(of.Cascade, child.Header.Cascade)
		}
	}
	for _, e := range parent.Entries {
		if e.Key != b.key.Step(echo.StepCascade) {
			continue
		}
		if found, err := echo.Read[echo.FoundCascade](e); err == nil && found.Hash == b.start.Hash {
			return sameJSON(found.Cascade, child.Header.Cascade)
		}
	}
	return true // a fork with another cascade may have copied what it does not reach
}

// disagreementOfEnd compares the end of a child that its parent has recorded with those that the
// child has: it may have gone on since.
func disagreementOfEnd(end *effect.ChildOutcome, child *journal.Recording, said func(what string, parents, childs any) string) string {
	differs := said("the end", end.Status, record.EndOf(child.Entries).Status)
	for i, e := range slices.Backward(child.Entries) {
		if e.NodeType != echo.NodeRunEnd {
			continue
		}
		itself, copied := tookUntil(child, i)
		what, parents, childs := endDiffers(end, e, itself, copied)
		if what == "" {
			return ""
		}
		if i == len(child.Entries)-1 || differs == "" {
			differs = said(what, parents, childs)
		}
	}
	return differs
}

// tookUntil returns what a child and its own children took by one of its ends, and what they have copied: the
// end of the child of a fork has both in one sum.
func tookUntil(child *journal.Recording, end int) (itself, copied effect.Totals) {
	e := child.Entries[end]
	d, err := echo.Read[echo.RunEnd](e)
	if err != nil || child.Header.ParentSeq > 0 {
		return tookBy(child.Entries[:end])
	}
	itself = effect.Totals{Calls: d.Calls, UnknownCosts: d.Unknown}
	if e.Usage != nil {
		itself.Usage = *e.Usage
	}
	if e.CostUSD != nil {
		itself.CostUSD = *e.CostUSD
	}
	return itself.Plus(sumOfEnds(record.Counted(child.Entries[:end]))), copied
}

// endDiffers returns what the end of a run says otherwise than its parent's record of it. took is what
// it and its own children took, copied what they have copied, which a parent of an earlier version does not say.
func endDiffers(end *effect.ChildOutcome, e *echo.Entry, took, copied effect.Totals) (what string, parents, childs any) {
	d, err := echo.Read[echo.RunEnd](e)
	if err != nil {
		return "the end", end.Status, err
	}
	childError := ""
	if e.Error != nil {
		childError = e.Error.Message
	}
	parentError := ""
	if end.Error != nil {
		parentError = end.Error.Message
	}
	said := end.CopiedTotals()
	switch {
	case end.Status != d.Status || end.Reason != d.Reason:
		return "the end", fmt.Sprintf("%s (%s)", end.Status, end.Reason), fmt.Sprintf("%s (%s)", d.Status, d.Reason)
	case end.Status == echo.StatusCompleted && !bytes.Equal(effect.MustJSON(end.Output), effect.MustJSON(d.Output)):
		return "the output", string(effect.MustJSON(end.Output)), string(effect.MustJSON(d.Output))
	case parentError != childError:
		return "the error", parentError, childError
	case end.Totals.Calls != took.Calls || end.Totals.Usage != took.Usage || end.Totals.UnknownCosts != took.UnknownCosts:
		return "what it took", figuresText(end.Totals), figuresText(took)
	case took.UnknownCosts == 0 && math.Abs(end.Totals.CostUSD-took.CostUSD) > 1e-9:
		return "what it cost", end.Totals.CostUSD, took.CostUSD
	case end.Copied == nil:
	case said.Calls != copied.Calls || said.Usage != copied.Usage || said.UnknownCosts != copied.UnknownCosts:
		return "what it has copied", figuresText(said), figuresText(copied)
	case copied.UnknownCosts == 0 && math.Abs(said.CostUSD-copied.CostUSD) > 1e-9:
		return "the cost of what it has copied", said.CostUSD, copied.CostUSD
	}
	return "", nil, nil
}

func figuresText(t effect.Totals) string {
	return fmt.Sprintf("%d model calls with %d tokens in, %d out", t.Calls, t.Usage.In, t.Usage.Out)
}
