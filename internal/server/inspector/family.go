package inspector

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// childRow is a session that a run has begun, as the record of the run has it.
type childRow struct {
	Path, Session string
	Name, Cascade string
	How, Status   string
	Key           string // where it was begun
	Calls         int    // with those of its own children
	Cost          string
}

// mostChildren is how many children a page lists.
const mostChildren = 500

// family are the children of a session. left are those that are not listed.
func (o *opened) family() (rows []childRow, left int) {
	all := o.Fold.Children()
	left = max(len(all)-mostChildren, 0)
	for i := range all[:len(all)-left] {
		c := &all[i]
		row := childRow{
			Path: pathOf(c.Session), Session: c.Session, Name: excerpt.Line(c.Name, mostName), Cascade: excerpt.Line(c.Cascade, mostName), How: string(c.How),
			Status: archive.Unfinished, Key: c.Key.String(),
		}
		if c.End != nil {
			row.Status, row.Calls, row.Cost = c.End.Status.String(), c.Totals.Calls, costOf(&c.Totals)
		}
		rows = append(rows, row)
	}
	return rows, left
}

// costOf is what is known of the money.
func costOf(t *record.Totals) string {
	if usd := t.KnownUSD(); usd != nil {
		return quantity.USD(*usd)
	}
	return "not known"
}

// waits are what a session of this machine waits for.
func (o *opened) waits() (out []page.Link) {
	if !o.Detail.Here {
		return nil
	}
	for _, e := range record.OpenWaits(o.Entries) {
		out = append(out, page.Link{Title: e.Key.String(), Path: "/waits/" + echo.WaitID(o.ID, e.Key)})
	}
	return out
}
