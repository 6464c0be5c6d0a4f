// Package inspector has the screens of one session: what it did, what each model call was sent and why, and what that
// cost.
//
//   - opened.go: sessions that were read.
//   - run.go, flame.go: the run, as a timeline and as a flame.
//   - matrix.go, whole.go: which call was sent which message, a part of it as a drawing and all of it for a canvas.
//   - sent.go, life.go: the requests, and what became of a message.
//   - candidates.go, differ.go, scatter.go: the candidates of soundings, what judges said of them, and how their answers differ.
//   - between.go, trial.go: what came into phases of earlier ones, and what another strategy or budget would bring.
//   - control.go: what can be done to a run.
//   - bill.go: what it would have cost under other policies and prices.
package inspector

import (
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/url"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/server/page"
)

//go:embed assets
var assets embed.FS

// Options say what the screens are of.
type Options struct {
	Archive *archive.Archive
	Runs    Runs                                      // nil: nothing can be done to a run
	Price   func(model string) (*config.Price, error) // of a model, nil when it is not known; nil: no price is known
	Now     func() time.Time                          // nil: the system's clock

	Selections Selections // makes trial selections; nil: nothing does

	// Patience is how long a browser waits for a session to be read before it is shown that this goes on; 0: to the end.
	Patience time.Duration
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
	in := &inspector{Options: o, sessions: newSessions(o.Archive)}
	answers := map[string]page.Answer{}
	for pattern, answer := range map[string]func(*visit) error{
		"GET /sessions/{session}":                           run,
		"GET /sessions/{session}/matrix":                    matrix,
		"GET /sessions/{session}/matrix/whole":              wholeMatrix,
		"GET /sessions/{session}/calls":                     calls,
		"GET /sessions/{session}/calls/{call...}":           sent,
		"GET /sessions/{session}/request/{call...}":         request,
		"GET /sessions/{session}/life/{hash}":               life,
		"GET /sessions/{session}/candidates":                soundingList,
		"GET /sessions/{session}/candidates/{sounding...}":  candidates,
		"GET /sessions/{session}/selections":                selectionList,
		"GET /sessions/{session}/selections/{selection...}": selectedFor,
		"GET /sessions/{session}/bill":                      bill,
		"GET /sessions/{session}/bill/series":               billSeries,
		"POST /sessions/{session}/cancel":                   control("cancel"),
		"POST /sessions/{session}/resume":                   control("resume"),
		"POST /sessions/{session}/fork":                     control("fork"),
	} {
		answers[pattern] = in.answer(answer)
	}
	answers["GET /sessions/{session}/live"] = in.live
	return page.Screens{Name: "inspector", Files: files, Funcs: funcs, Answers: answers}
}

type inspector struct {
	Options
	sessions *sessions
}

// visit is a request for a screen of a session that was read.
type visit struct {
	*page.Visit
	*inspector
	of *opened
}

// answer reads the session of an address and has a screen answer. A page of one that takes long to read says so, and is asked
// for again; scripts and forms wait.
func (in *inspector) answer(screen func(*visit) error) page.Answer {
	return func(v *page.Visit) error {
		patience := in.Patience
		if !v.IsPage() {
			patience = 0
		}
		of, err := in.sessions.open(v.Context(), v.Of("session"), patience)
		var slow *slowError
		if errors.As(err, &slow) {
			v.ShowAgain(time.Second)
			return v.Show("reading", slow.id, readingView{slow.id, slow.bytes})
		}
		if err != nil {
			return err
		}
		return screen(&visit{v, in, of})
	}
}

// readingView is shown while a session is being read.
type readingView struct {
	Session string
	Bytes   int64
}

// head is what every screen of a session begins with.
type head struct {
	Session string
	Base    string // the address of the session
	Cascade string
	Status  string
	At      string // the screen, by its name in the address
	Running bool
	Seen    string // the stamp of what is shown

	kinds map[echo.NodeType]bool // of the entries of the session
}

// Tab is a screen of a session, in the bar of all its screens.
type Tab struct {
	Name, Path string
	At         bool
}

// tabs are the screens of a session: the last part of the address, the name, and the entries without which there is nothing to see.
var tabs = [...]struct {
	at, name string
	needs    echo.NodeType
}{
	{"", "Run", ""},
	{"matrix", "Context matrix", ""},
	{"calls", "Requests", ""},
	{"candidates", "Candidates", echo.NodeCandidate},
	{"selections", "Between phases", echo.NodeInter},
	{"bill", "Bill, otherwise", ""},
}

// Tabs returns the screens of the session.
func (h head) Tabs() (out []Tab) {
	for _, t := range tabs {
		if t.needs != "" && t.at != h.At && !h.kinds[t.needs] {
			continue
		}
		address := h.Base
		if t.at != "" {
			address += "/" + t.at
		}
		out = append(out, Tab{t.name, address, t.at == h.At})
	}
	return out
}

var funcs = template.FuncMap{
	"short":     func(name string) string { return excerpt.Line(name, mostName) },
	"phasePath": func(session, visit string) string { return runPath(session, "", visit) },
}

func (v *visit) head(at string) head {
	d := v.of.Detail
	return head{
		Session: d.ID, Base: pathOf(d.ID), Cascade: d.CascadeID, Status: d.Status, At: at, Running: v.of.stamp.Running, Seen: stampText(v.of.stamp),
		kinds: v.of.Kinds(),
	}
}

// pathOf returns the address of a session.
func pathOf(id string) string { return "/sessions/" + url.PathEscape(id) }
