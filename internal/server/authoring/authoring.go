// Package authoring has the screens of cascades: the files that the server grants, each with its graph, an editor that says
// what windlass validate says, and a form that starts a run.
//
//   - edit.go: a file, its text, what is wrong with it; checks and saves.
//   - draw.go: the graph.
//   - input.go, run.go: the inputs of a run, and its start.
package authoring

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/schema"
)

//go:embed assets
var assets embed.FS

// Options say what the screens are of.
type Options struct {
	Grants *grants.Grants
	Runs   Runs // nil: nothing can be run
	Edit   bool // files may be changed
}

// Runs starts runs, as POST /api/runs does. It is safe for concurrent use.
type Runs interface {
	Start(ctx context.Context, r *server.RunRequest) (*server.Session, error)
}

// The addresses, and the file of the JSON Schema of cascades.
const (
	pathCascades = "/cascades"
	pathCheck    = pathCascades + "/check"
	name         = "authoring"
	schemaFile   = "cascade.schema.json"
	pathSchema   = "/page/" + name + "/" + schemaFile
)

// New returns the screens.
func New(o Options) page.Screens {
	in, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	a := &author{o}
	return page.Screens{
		Name: name, Files: files{in}, Nav: []page.Link{{Title: "Cascades", Path: pathCascades}},
		Answers: map[string]page.Answer{
			"GET " + pathCascades:                 a.list,
			"GET " + pathCascades + "/{name...}":  a.show,
			"POST " + pathCascades + "/{name...}": a.act,
			"POST " + pathCheck:                   a.check,
		},
	}
}

// files are those of the screens, with the JSON Schema of cascades.
type files struct{ fs.FS }

// ReadFile implements [fs.ReadFileFS].
func (f files) ReadFile(name string) ([]byte, error) {
	if name == schemaFile {
		return schema.CascadeJSON(), nil
	}
	return fs.ReadFile(f.FS, name)
}

type author struct{ Options }

// The bounds of the list.
const (
	mostFiles  = 200
	mostShown  = 3  // diagnostics of a file
	mostPhases = 12 // names of phases of a file
)

// listView are the cascade files.
type listView struct {
	Files []listed
	More  int // files that are not shown
	Notes []string
	Edit  bool
}

// listed is a cascade file in the list.
type listed struct {
	Name, Path  string
	ID          string
	Description string
	Phases      []string
	MorePhases  int
	State       string // what is wrong with it, in a few words
	Bad         bool   // it has errors, or cannot be read
	Found       []finding
	MoreFound   int
}

func (a *author) list(v *page.Visit) error {
	names, notes := a.Grants.Files(v.Context())
	view := listView{Notes: notes, Edit: a.Edit, More: max(0, len(names)-mostFiles)}
	for _, file := range names[:min(len(names), mostFiles)] {
		one, err := a.listed(v.Context(), file)
		if err != nil {
			return err
		}
		if one != nil {
			view.Files = append(view.Files, *one)
		}
	}
	return v.Show("cascades", "Cascades", view)
}

// listed returns a file for the list; nil for one that went away.
func (a *author) listed(ctx context.Context, file string) (*listed, error) {
	out := &listed{Name: file, Path: pathOf(file)}
	f, err := a.Grants.File(file)
	if errors.As(err, new(*grants.NoFileError)) {
		return nil, nil //nolint:nilnil // what went away is no file of the list
	}
	var c *cascade.Cascade
	var found cascade.Diagnostics
	if err == nil {
		c, found, err = a.Grants.Diagnose(ctx, f, f.Text)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.State, out.Bad = server.ProblemOf(err).Detail, true
		return out, nil
	}
	errs, warnings := found.Count()
	out.State, out.Bad = stateOf(errs, warnings), errs > 0
	out.Found, out.MoreFound = findings(file, found[:min(len(found), mostShown)]), max(0, len(found)-mostShown)
	if c != nil {
		out.ID, out.Description = c.CascadeID, c.Description
		for p := range c.EachPhase() {
			out.Phases = append(out.Phases, p.Name)
		}
		out.MorePhases = max(0, len(out.Phases)-mostPhases)
		out.Phases = out.Phases[:min(len(out.Phases), mostPhases)]
	}
	return out, nil
}

// stateOf says in a few words what is wrong with a file.
func stateOf(errs, warnings int) string {
	switch {
	case errs+warnings == 0:
		return "ok"
	case errs == 0:
		return quantity.Of(warnings, "warning")
	case warnings == 0:
		return quantity.Of(errs, "error")
	}
	return quantity.Of(errs, "error") + ", " + quantity.Of(warnings, "warning")
}

// pathOf returns the address of a file.
func pathOf(file string) string {
	u := url.URL{Path: pathCascades + "/" + file}
	return u.EscapedPath()
}

// open returns the file of an address.
func (a *author) open(file string) (*grants.File, error) {
	f, err := a.Grants.File(file)
	if err != nil {
		return nil, refusal(err)
	}
	return f, nil
}

// refusal is an error in the words of a person.
func refusal(err error) error {
	if errors.As(err, new(*grants.NoFileError)) {
		return page.Missing("There is no such cascade file in the folders that this server was started with.")
	}
	p := server.ProblemOf(err)
	if p.Kind == server.Internal {
		return err
	}
	return page.Refusal(http.StatusUnprocessableEntity, "%s", worded(p))
}

// worded says what a problem is and what to try.
func worded(p *server.Problem) string {
	text := p.Detail + "."
	if p.Try != "" {
		text += " Try: " + p.Try
	}
	text, _ = excerpt.Unhidden(text)
	return text
}
