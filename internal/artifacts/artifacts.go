// Package artifacts finds what runs have made for people to see.
package artifacts

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
)

// Found is an artifact of a recorded session.
type Found struct {
	Session string    `json:"session"`
	Phase   string    `json:"phase"`
	At      time.Time `json:"at"`
	echo.Artifact
}

// Of returns the artifacts of a session's entries, in the order in which they were made.
func Of(session string, entries []*echo.Entry) ([]Found, error) {
	var out []Found
	for _, e := range entries {
		if p := e.Key.Path(); e.NodeType != echo.NodeValue || p.Last().Kind != echo.StepArtifact {
			continue
		}
		a, err := echo.Read[echo.Artifact](e)
		if err != nil {
			return nil, failure.New(failure.Damaged, fmt.Errorf("session %s: %w", session, err), "")
		}
		out = append(out, Found{Session: session, Phase: e.Phase, At: e.At, Artifact: a})
	}
	return out, nil
}

// UnknownError says that an id, or the beginning of one, stands for no artifact, or for several.
type UnknownError struct {
	Session, Given string
	IDs            []string // that begin so; none: there is no such artifact
}

func (e *UnknownError) Error() string {
	if len(e.IDs) == 0 {
		return fmt.Sprintf("session %s has no artifact %q", e.Session, e.Given)
	}
	return fmt.Sprintf("%q is the beginning of %d artifacts of session %s: %s", e.Given, len(e.IDs), e.Session, strings.Join(e.IDs, ", "))
}

// Find returns the artifact with an id, or with the only one that begins so. The error is an [*UnknownError].
func Find(session string, list []Found, id string) (*Found, error) {
	unknown := &UnknownError{Session: session, Given: id}
	var found *Found
	for i := range list {
		switch {
		case list[i].ID == id:
			return &list[i], nil
		case id != "" && strings.HasPrefix(list[i].ID, id):
			found = &list[i]
			unknown.IDs = append(unknown.IDs, list[i].ID)
		}
	}
	if len(unknown.IDs) == 1 {
		return found, nil
	}
	return nil, unknown
}
