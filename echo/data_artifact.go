package echo

import "errors"

// Artifact is what a model has made for people to see. Its key is below that of the call.
type Artifact struct {
	ID    string       `json:"id"` // see [ArtifactID]
	Kind  ArtifactKind `json:"kind"`
	Title string       `json:"title"`
	Type  string       `json:"artifact_type,omitempty"` // as the model calls it: report, dashboard, ...
	Tags  []string     `json:"tags,omitempty"`
	HTML  string       `json:"html"` // of a model: only a frame without rights may show it
}

// ArtifactKind says what an artifact is for.
type ArtifactKind string

// The kinds of artifacts.
const (
	ArtifactUI   ArtifactKind = "ui"   // shown to people while the run continues, by show_ui
	ArtifactMade ArtifactKind = "made" // kept for people and for later calls, by create_artifact
)

// ArtifactsFound is which artifacts a call has found, in the order in which they were made.
type ArtifactsFound struct {
	Keys []Key `json:"keys,omitempty"` // of the entries that have them
}

// ArtifactID returns the id of an artifact, which follows from the session and the key of its entry.
func ArtifactID(session string, key Key) string { return idOf("artifact", session, key) }

// IsArtifactID reports whether a text can be the id of an artifact.
func IsArtifactID(s string) bool { return IsWaitID(s) }

func (Artifact) kind() kind       { return kind{NodeValue, StepArtifact} }
func (ArtifactsFound) kind() kind { return kind{NodeValue, StepFound} }

func (a *Artifact) check() error {
	if a.ID == "" || a.HTML == "" {
		return errors.New("it has no id, or no HTML")
	}
	return nil
}
