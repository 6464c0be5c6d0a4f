package page

import (
	"context"
	"net/http"
	"net/url"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/artifacts"
	"github.com/windlass-run/windlass/internal/failure"
)

// Artifacts reads what runs have made for people to see. It is safe for concurrent use.
type Artifacts interface {
	// Artifact returns one of a session. The error has the kind UnknownSession when there is none.
	Artifact(ctx context.Context, session, id string) (*echo.Artifact, error)
}

type artifactView struct {
	frame
	Made             *echo.Artifact
	Session, Address string
}

func (r *request) artifact() error {
	if !r.needLogin() {
		return nil
	}
	a, address, err := r.findArtifact()
	if err != nil {
		return err
	}
	r.show(r.views, http.StatusOK, "artifact", artifactView{frame: r.frame(clean(a.Title)), Made: a, Session: r.r.PathValue("session"), Address: address})
	return nil
}

func (r *request) findArtifact() (a *echo.Artifact, address string, err error) {
	session, id := r.r.PathValue("session"), r.r.PathValue("id")
	if r.Artifacts == nil || !echo.IsArtifactID(id) {
		return nil, "", nothing(r)
	}
	a, err = r.Artifacts.Artifact(r.ctx(), session, id)
	return a, pathArtifacts + url.PathEscape(session) + "/" + id, err
}

// artifactHTML sends what a model has written.
func artifactHTML(r *request) error {
	if r.login == nil {
		return &statusError{http.StatusUnauthorized, "Closed", "Open the page again.", "refused"}
	}
	a, address, err := r.findArtifact()
	if err != nil {
		return err
	}
	return r.sendHTML(a.HTML, address)
}

// ArtifactsOf returns the artifacts of an archive.
func ArtifactsOf(a *archive.Archive) Artifacts { return archived{a} }

type archived struct{ archive *archive.Archive }

func (x archived) Artifact(ctx context.Context, session, id string) (*echo.Artifact, error) {
	session, entries, err := x.archive.Entries(ctx, session)
	if err != nil {
		return nil, err
	}
	list, err := artifacts.Of(session, entries)
	if err != nil {
		return nil, err
	}
	found, err := artifacts.Find(session, list, id)
	if err != nil {
		return nil, failure.New(failure.UnknownSession, err, "")
	}
	return &found.Artifact, nil
}
