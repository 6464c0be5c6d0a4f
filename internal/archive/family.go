package archive

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Family is where a session stands among those that begin others. The figures of a session are its own;
// WithChildren has it and all below it.
type Family struct {
	ChildOf      string        `json:"child_of,omitempty"`  // the session that has begun it; "": none has
	ChildKey     string        `json:"child_key,omitempty"` // where, there
	Root         string        `json:"root,omitempty"`      // the first of all above it
	Children     []ChildReport `json:"children,omitempty"`  // in the order in which they began
	WithChildren *TreeSum      `json:"with_children,omitempty"`
}

// ChildReport is a child of a session: another cascade that it has begun.
type ChildReport struct {
	Session   string         `json:"session_id"`
	Name      string         `json:"name"` // by which its parent knows it
	How       echo.ChildKind `json:"how"`
	Key       string         `json:"key"` // where its parent has begun it
	CascadeID string         `json:"cascade_id"`
	Status    string         `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	Error     string         `json:"error,omitempty"`
	Detached  bool           `json:"detached,omitempty"`
	Copied    bool           `json:"copied,omitempty"` // of the session that a fork comes from: it is in no sum
	StartedAt time.Time      `json:"started_at"`
	LastAt    time.Time      `json:"last_at,omitzero"` // of its end; zero: none is known

	Own          *TreeSum      `json:"own,omitempty"` // of the child alone; nil: its record is not here
	WithChildren *TreeSum      `json:"with_children"` // nil: not known
	Children     []ChildReport `json:"children,omitempty"`
}

// TreeSum sums up sessions.
type TreeSum struct {
	Sessions         int    `json:"sessions"`
	Unknown          int    `json:"unknown_sessions,omitempty"` // of which nothing is known here: they are in no sum
	Calls            uint64 `json:"calls"`                      // of models that answer
	EmbeddingCalls   uint64 `json:"embedding_calls"`
	UnknownCostCalls uint64 `json:"unknown_cost_calls"` // left out of CostUSD
	ScriptedCalls    uint64 `json:"scripted_calls"`
	clickhouse.Tokens
	CostUSD *float64 `json:"cost_usd"` // nil when there are calls and no cost is known
	clickhouse.Pretend

	totals record.Totals
}

func sumOf(sessions, unknown int, t record.Totals) *TreeSum {
	return &TreeSum{
		Sessions: sessions, Unknown: unknown, Calls: uint64(t.Calls), EmbeddingCalls: uint64(t.Embeddings), UnknownCostCalls: uint64(t.UnknownCosts),
		ScriptedCalls: uint64(t.Scripted), Tokens: tokensOf(&t.Usage), CostUSD: t.KnownUSD(), Pretend: pretendOf(&t), totals: t,
	}
}

// plus returns the sum of both.
func (s *TreeSum) plus(o *TreeSum) *TreeSum {
	if o == nil {
		return sumOf(s.Sessions, s.Unknown+1, s.totals)
	}
	return sumOf(s.Sessions+o.Sessions, s.Unknown+o.Unknown, s.totals.Plus(o.totals))
}

// mostRelatives is how many sessions below another are looked into. Of others the records of those above
// say what they took.
const mostRelatives = 500

// relatives reads what is below a session.
type relatives struct {
	ctx     context.Context //nolint:containedctx // of one report
	archive *Archive
	here    bool // the session is on this machine, and so are its children
	left    int
	seen    map[string]bool // a record may say anything
}

// familyOf returns the family of a session whose record was read.
func familyOf(ctx context.Context, a *Archive, read *Reading) Family {
	r := &relatives{ctx, a, read.Detail.Here, mostRelatives, map[string]bool{read.Detail.ID: true}}
	f := r.of(read)
	if len(f.Children) == 0 {
		f.WithChildren = nil
	}
	if len(read.Entries) == 0 {
		return f
	}
	if h, err := journal.HeaderOf(read.Entries[0]); err == nil && h.ChildOf != "" {
		f.ChildOf, f.ChildKey, f.Root = h.ChildOf, h.ChildKey.String(), h.Root
	}
	return f
}

// of returns the children of a session and what all took.
func (r *relatives) of(read *Reading) Family {
	sums := read.Fold.Sums()
	f := Family{WithChildren: sumOf(1, 0, sums.Totals)}
	copied := map[string]bool{}
	for _, e := range read.Entries {
		if e.NodeType == echo.NodeChildStart && sums.Copied.Has(e) {
			d, _ := echo.Read[echo.ChildStart](e) // one that cannot be read is no child
			copied[d.Session] = true
		}
	}
	for _, c := range read.Fold.Children() {
		child := r.child(&c)
		if child.Copied = copied[c.Session]; !child.Copied {
			f.WithChildren = f.WithChildren.plus(child.WithChildren)
		}
		f.Children = append(f.Children, child)
	}
	return f
}

// child returns a child as its own record has it, and as that of its parent does where there is none.
func (r *relatives) child(c *record.Child) ChildReport {
	out := ChildReport{
		Session: c.Session, Name: c.Name, How: c.How, Key: c.Key.String(), CascadeID: c.Cascade, Status: sessions.Running,
		Detached: c.Detach, StartedAt: c.StartedAt, LastAt: c.EndedAt, Error: c.Error,
	}
	if c.End != nil {
		out.Status, out.Reason = c.End.Status.String(), string(c.End.Reason)
		out.WithChildren = sumOf(1, 0, c.Totals)
	}
	read := r.read(c.Session)
	if read == nil {
		if c.End == nil {
			out.Status = Unfinished
		}
		return out
	}
	d, sums := read.Detail, read.Fold.Sums()
	out.Own = sumOf(1, 0, sums.Totals)
	below := r.of(read)
	out.Children, out.WithChildren = below.Children, below.WithChildren
	out.Status, out.Reason, out.Error = d.Status, d.Reason, cmp.Or(d.Error, out.Error)
	out.LastAt = d.LastAt
	return out
}

// read returns the record of a child, nil when there is none in reach.
func (r *relatives) read(id string) *Reading {
	if r.left == 0 || r.seen[id] {
		return nil
	}
	r.left--
	r.seen[id] = true
	if _, err := os.Stat(JournalPath(r.archive.Home, id)); err == nil {
		read, err := r.archive.read(id)
		if err != nil {
			return nil // damaged: what its parent says of it counts
		}
		return read
	}
	if r.here || r.archive.Database == nil {
		return nil
	}
	read, err := r.archive.reading(r.ctx, id)
	if err != nil {
		return nil
	}
	return read
}
