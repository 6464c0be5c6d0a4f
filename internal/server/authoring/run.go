package authoring

import (
	"context"
	"net/url"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
)

// runView is the form of a run.
type runView struct {
	Fields      []field
	Files       []string // inputs that are files
	More        string   // further inputs, as JSON
	Offline     bool     // scripts answer
	OnlyOffline bool     // this server asks no model

	of *cascade.Cascade
}

// runOf returns the form of a run with what was given; nil where a cascade cannot be run.
func (a *author) runOf(ctx context.Context, c *cascade.Cascade, given url.Values) *runView {
	if c == nil || a.Runs == nil {
		return nil
	}
	out := &runView{OnlyOffline: a.Grants.Offline(), Offline: given.Get("do") == "" || given.Has("offline"), More: given.Get("more"), of: c}
	out.Fields, out.Files = fieldsOf(ctx, c, given)
	return out
}

// run starts a run of the file, and shows its session.
func (a *author) run(v *page.Visit, f *grants.File, view *fileView) error {
	session, err := a.start(v, f, view)
	id := ""
	if session != nil {
		id = session.ID
	}
	v.Audit(audit.Run, id, f.Name, err)
	if err == nil {
		return v.Redirect("/sessions/" + url.PathEscape(id))
	}
	p := server.ProblemOf(err)
	if p.Kind == server.Internal {
		return err
	}
	view.Problem = worded(p)
	return a.page(v, statusOf(p), view)
}

func (a *author) start(v *page.Visit, f *grants.File, view *fileView) (*server.Session, error) {
	switch {
	case view.HasChange:
		return nil, server.NewProblem(server.BadRequest, "save it first", "only what is saved is run, and the text is not")
	case a.Runs == nil:
		return nil, server.NewProblem(server.NotGranted, "", "this server runs nothing")
	case view.Run == nil:
		return nil, server.NewProblem(server.BadRequest, "correct what is listed", "the cascade has errors, and cannot be run")
	}
	input, err := inputOf(view.Run.of, view.Run.Fields, v.Form())
	if err != nil {
		return nil, err
	}
	return a.Runs.Start(v.Context(), &server.RunRequest{File: f.Name, Input: input, Offline: view.Run.Offline})
}
