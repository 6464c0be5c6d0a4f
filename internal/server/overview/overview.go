// Package overview has the screens of all sessions: the list of runs, what they cost, what they remember and what
// they may call.
//
//   - runs.go, search.go: the list of runs.
//   - cost.go, csv.go: the report of costs.
//   - memory.go, bank.go, memos.go: banks of memory and memos.
//   - grants.go: approvals that count for later calls.
//   - draw.go: sparklines and columns, in words.go their texts.
package overview

import (
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/server/page"
)

//go:embed assets
var assets embed.FS

// Options say what the screens are of.
type Options struct {
	Archive *archive.Archive
	Grants  Grants           // nil: there is no screen of them
	Now     func() time.Time // nil: the system's clock
}

// New returns the screens.
func New(o Options) page.Screens {
	if o.Now == nil {
		o.Now = time.Now
	}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	x := &overview{Options: o, desk: figures.New(o.Archive)}
	out := page.Screens{
		Name: "overview", Files: files, Funcs: funcs,
		Nav: []page.Link{{Title: "Runs", Path: "/"}, {Title: "Cost", Path: pathCost}, {Title: "Memory", Path: pathMemory}},
		Answers: map[string]page.Answer{
			"GET /{$}":                      x.runs,
			"GET " + pathCost:               x.cost,
			"GET /live":                     x.live,
			"GET /cost.csv":                 x.costCSV,
			"GET " + pathMemory:             x.memory,
			"GET " + pathMemory + "/{bank}": x.bank,
		},
	}
	if o.Grants != nil {
		out.Nav = append(out.Nav, page.Link{Title: "Grants", Path: pathGrants})
		out.Answers["GET "+pathGrants] = x.grants
		out.Answers["POST "+pathGrants+"/{grant}"] = x.revoke
	}
	return out
}

// The addresses.
const (
	pathCost   = "/cost"
	pathMemory = "/memory"
	pathGrants = "/grants"
)

type overview struct {
	Options
	desk *figures.Desk
}

// away says in a line why something of ClickHouse is not shown; "" for nil. The error is another one's when it is none of
// ClickHouse.
func away(err error) (note string, other error) {
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, figures.ErrNoDatabase):
		return "This server runs without ClickHouse.", nil
	case failure.Is(err, failure.StorageFailed), failure.Is(err, failure.EngineMissing), failure.Is(err, failure.OtherVersion):
		return "ClickHouse cannot be queried: " + excerpt.Line(err.Error(), mostProblem) + ".", nil
	}
	return "", err
}

// mostProblem is how many bytes of an error are shown.
const mostProblem = 500
