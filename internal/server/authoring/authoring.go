// Package authoring has the screens of cascades: the files that the server grants, each with its graph, an editor that says
// what windlass validate says, and a form that starts a run.
//
//   - list.go: the files.
//   - edit.go: a file, its text, what is wrong with it; checks and saves.
//   - sent.go: what a form has sent, which no answer loses.
//   - new.go: a file that is not there yet.
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

	"github.com/windlass-run/windlass/internal/excerpt"
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
	pathNew      = pathCascades + "/new"
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
	a := &author{o, make(chan struct{}, mostLooks)}
	return page.Screens{
		Name: name, Files: files{in}, Nav: []page.Link{{Title: "Cascades", Path: pathCascades}},
		Answers: map[string]page.Answer{
			"GET " + pathCascades:                 a.list,
			"GET " + pathCascades + "/{name...}":  a.show,
			"POST " + pathCascades + "/{name...}": a.act,
			"POST " + pathCheck:                   a.check,
			"GET " + pathNew:                      a.begin,
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

type author struct {
	Options
	slots chan struct{} // one for each text that is looked at: others wait, as a text may take much memory
}

// mostLooks is how many texts are looked at at once.
const mostLooks = 2

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
