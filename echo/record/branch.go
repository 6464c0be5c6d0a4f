package record

import (
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Branch is a part of a run whose entries have an order among themselves and none with those of other branches, see
// [echo.Key.Branch].
type Branch struct {
	Key       echo.Key // zero: the trunk
	Parent    echo.Key // that it grows from; the trunk is its own
	First     uint64   // number of the entry with which it begins
	Last      uint64   // number of its newest entry
	StartedAt time.Time
	LastAt    time.Time
	Ended     bool // its end is recorded; a tool call ends with its result
}

// branches are those of a session, in the order in which they began.
type branches struct {
	list []Branch
	at   map[echo.Key]int
}

func (b *branches) add(e *echo.Entry, p *echo.Path) {
	var key echo.Key
	if len(p.Branches) > 0 || len(p.Effect) > 0 && p.Effect[0].Kind == echo.StepTool {
		key = e.Key.Branch()
	}
	own := b.see(key, e)
	switch e.NodeType {
	case echo.NodeRunEnd:
		own.Ended = true
	case echo.NodeToolCall:
		own.Ended = own.Ended || key == e.Key
	case echo.NodeBranchStart:
		b.see(e.Key.Place(), e)
	case echo.NodeBranchEnd:
		b.see(e.Key.Place(), e).Ended = true
	}
}

// see takes the newest entry of a branch, which may be its first.
func (b *branches) see(key echo.Key, e *echo.Entry) *Branch {
	if b.at == nil {
		b.at = map[echo.Key]int{}
	}
	i, ok := b.at[key]
	if !ok {
		i = len(b.list)
		b.at[key] = i
		b.list = append(b.list, Branch{Key: key, Parent: key.ParentBranch(), First: e.Seq, StartedAt: e.At})
	}
	br := &b.list[i]
	br.Last, br.LastAt = e.Seq, e.At
	return br
}
