package authoring

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/source"
)

// The bounds of the list.
const (
	mostFiles  = 200
	mostShown  = 3   // diagnostics of a file
	mostPhases = 12  // names of phases of a file
	mostShort  = 80  // bytes of an id, and of the name of a phase
	mostLong   = 300 // bytes of a description, and of what is wrong
)

// listView are the cascade files.
type listView struct {
	Files []listed
	More  int // files that are not shown
	Notes []string
	Edit  bool
	Roots bool   // there are folders
	Find  string // what their names have

	NewName string // of a file that is to be made
	Problem string // why it is not
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

func (a *author) list(v *page.Visit) error { return a.listed(v, http.StatusOK, listView{}) }

// listed shows the files, with what a view says of one that is to be made.
func (a *author) listed(v *page.Visit, status int, view listView) error {
	names, notes := a.Grants.Files(v.Context())
	view.Find = v.Query().Get("file")
	names = slices.DeleteFunc(names, func(file string) bool { return !strings.Contains(file, view.Find) })
	view.Notes, view.Edit, view.Roots, view.More = notes, a.Edit, a.Grants.HasRoots(), max(0, len(names)-mostFiles)
	for _, file := range names[:min(len(names), mostFiles)] {
		one, err := a.entry(v.Context(), file)
		if err != nil {
			return err
		}
		if one != nil {
			view.Files = append(view.Files, *one)
		}
	}
	return v.ShowAs(status, "cascades", "Cascades", view)
}

// entry returns a file for the list; nil for one that went away.
func (a *author) entry(ctx context.Context, file string) (*listed, error) {
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
	for i := range out.Found {
		out.Found[i].Message = excerpt.Clip(out.Found[i].Message, mostLong)
	}
	if c != nil {
		out.Description = excerpt.Clip(c.Description, mostLong)
	}
	out.read(f)
	return out, nil
}

// read reads the id and the phases of a file, which may have errors.
func (l *listed) read(f *grants.File) {
	root := source.Parse(f.Name, f.Text).Root
	l.ID = excerpt.Clip(textIn(root, "cascade_id"), mostShort)
	phases := root.Get("phases")
	if phases == nil {
		return
	}
	for _, p := range phases.Items {
		if text := textIn(p, "name"); text != "" {
			l.Phases = append(l.Phases, excerpt.Clip(text, mostShort))
		}
	}
	l.MorePhases = max(0, len(l.Phases)-mostPhases)
	l.Phases = l.Phases[:min(len(l.Phases), mostPhases)]
}

// textIn returns the text of a key of an object, "" when there is none.
func textIn(n *source.Node, key string) string {
	if text := n.Get(key); text != nil && text.Kind == source.String {
		return text.Text
	}
	return ""
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
