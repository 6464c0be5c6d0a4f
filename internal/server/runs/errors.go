package runs

import (
	"errors"
	"fmt"

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
	)
	switch {
	case errors.As(err, &model), errors.As(err, &phase):
		return "name the models with model or models, or in the cascade"
	case errors.As(err, &script):
		return "docs/models.md describes scripts; without offline a model answers"
	case errors.As(err, &tools):
		return "correct the tools of the cascade; docs/tools.md describes what they need"
	case errors.As(err, &id):
		return "another session_id, or none for a new one"
	}
	return ""
}
