package runs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
)

// TestErrorsOfRuns: what a client gets of the errors with which a run does not start or resume
// names what a request can say, and no flag of the command.
func TestErrorsOfRuns(t *testing.T) {
	t.Parallel()
	cause := errors.New("why")
	of := func(k failure.Kind, err error) error { return failure.New(k, err, "") }
	type problem struct {
		kind        failure.Kind
		detail, try string
	}
	const models = "name the models with model or models, or in the cascade"
	tests := map[string]struct {
		explain func(error) error
		err     error
		want    problem
	}{
		"no model": {
			startError, of(failure.InvalidRequest, &core.NoModelError{File: "a.json"}),
			problem{failure.InvalidRequest, "no model: a.json names none, and neither WINDLASS_MODEL nor windlass.json does", models},
		},
		"no such phase": {
			startError, of(failure.InvalidRequest, &core.UnknownPhaseError{Phase: "p", Model: "m"}),
			problem{failure.InvalidRequest, `model "m" is named for the phase "p", and the cascade has no phase "p"`, models},
		},
		"no script": {
			startError, of(failure.InvalidRequest, &core.NoScriptError{Cause: failure.Cause{Err: cause}}),
			problem{failure.InvalidRequest, "why", "docs/models.md describes scripts; without offline a model answers"},
		},
		"tools": {
			startError, of(failure.InvalidRequest, &core.ToolsError{Cause: failure.Cause{Err: cause}}),
			problem{failure.InvalidRequest, "why", "correct the tools of the cascade; docs/tools.md describes what they need"},
		},
		"an id": {
			startError, of(failure.InvalidRequest, &core.SessionIDError{ID: "/"}),
			problem{failure.InvalidRequest, (&core.SessionIDError{ID: "/"}).Error(), "another session_id, or none for a new one"},
		},
		"an id that means another": {
			startError, of(failure.InvalidRequest, &core.ReservedIDError{ID: "last"}),
			problem{failure.InvalidRequest, `session id "last": commands use this name for the newest session`, "another session_id, or none for a new one"},
		},
		"an id that is taken": {
			startError, of(failure.SessionExists, journal.ErrExists),
			problem{failure.SessionExists, journal.ErrExists.Error(), "another session_id, or none for a new one; if this request was sent twice, the first one began the run"},
		},
		"no key": {
			startError, failure.New(failure.ModelUnavailable, cause, "set OPENAI_API_KEY"),
			problem{failure.ModelUnavailable, "why", "on the server: set OPENAI_API_KEY"},
		},
		"a fault": {startError, cause, problem{server.Internal, "windlass failed to answer this request", "look at the server's log"}},
		"busy":    {resumeError, of(failure.SessionBusy, journal.ErrBusy), problem{failure.NotResumable, journal.ErrBusy.Error(), "wait for its end"}},
		"half a fork": {
			resumeError, of(failure.NotResumable, &core.HalfForkError{SessionID: "f", Parent: "p", ParentSeq: 3, Missing: 1}),
			problem{failure.NotResumable, "session f: its process died before the fork of p was whole: 1 entry of 3 are missing", "POST /api/runs begins a new run"},
		},
		"tools of a program": {
			originError, of(failure.InvalidRequest, &core.MissingToolsError{SessionID: "s", Tools: []string{"a"}}),
			problem{
				failure.NotResumable, `session s: its cascade names the tool "a", which is neither built in, nor declared, nor given`,
				"resume it in the program that began it",
			},
		},
		"no disk": {
			resumeError, failure.New(failure.StorageFailed, cause, "free space"),
			problem{failure.StorageFailed, "resume the session: why", "on the server: free space"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *server.Problem
			require.ErrorAs(t, tt.explain(tt.err), &p)
			require.Equal(t, tt.want, problem{p.Kind, p.Detail, p.Try})
			require.ErrorIs(t, p, tt.err)
		})
	}
}
