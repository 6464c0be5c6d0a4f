package runs

import (
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
)

func startError(err error) error {
	p := *server.ProblemOf(err)
	if try := clientTry(err); try != "" {
		p.Try = try
	}
	return &p
}

// originError is that of a session whose header does not say a run that this server can resume.
func originError(err error) error {
	switch {
	case errors.As(err, new(*core.MissingToolsError)):
		return &server.Problem{Kind: failure.NotResumable, Detail: err.Error(), Try: "resume it in the program that began it", Err: err}
	case errors.As(err, new(*engine.RulesError)):
		return &server.Problem{Kind: failure.NotResumable, Detail: err.Error(), Try: "POST /api/runs begins a new run", Err: err}
	}
	return err
}

func resumeError(err error) error {
	switch failure.KindOf(err) {
	case failure.NotResumable, failure.SessionBusy:
		return server.ProblemOf(err)
	}
	return startError(fmt.Errorf("resume the session: %w", err))
}

// clientTry returns the next step of a client after an error that says more than its kind, or "".
func clientTry(err error) string {
	var (
		model  *core.NoModelError
		phase  *core.UnknownPhaseError
		script *core.NoScriptError
		tools  *core.ToolsError
		id     *core.SessionIDError
		taken  *core.ReservedIDError
	)
	switch {
	case errors.As(err, &model), errors.As(err, &phase):
		return "name the models with model or models, or in the cascade"
	case errors.As(err, &script):
		return "docs/models.md describes scripts; without offline a model answers"
	case errors.As(err, &tools):
		return "correct the tools of the cascade; docs/tools.md describes what they need"
	case errors.As(err, &id), errors.As(err, &taken):
		return "another session_id, or none for a new one"
	}
	return ""
}
