package serve

import (
	"context"

	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/runs"
)

// control does to the runs of a host what a person asks for on the page. It implements inspector.Runs.
type control struct{ host *runs.Host }

func (c control) Has(session string) bool { return c.host.Runs(session) }

func (c control) Cancel(ctx context.Context, session string) error {
	_, err := c.host.Cancel(ctx, session)
	return told(err)
}

func (c control) Resume(ctx context.Context, session string) error {
	_, err := c.host.Resume(ctx, session, &server.ResumeRequest{})
	return told(err)
}

func (c control) Fork(ctx context.Context, session, place string) (string, error) {
	s, err := c.host.Fork(ctx, session, place)
	if err != nil {
		return "", told(err)
	}
	return s.ID, nil
}

// told returns an error in the words of the API, unless it is a failure of windlass.
func told(err error) error {
	if err == nil {
		return nil
	}
	p := server.ProblemOf(err)
	if p.Kind == server.Internal {
		return err
	}
	return &toldError{p}
}

// toldError implements inspector.Told.
type toldError struct{ *server.Problem }

// Next implements inspector.Told.
func (e *toldError) Next() string { return e.Try }
