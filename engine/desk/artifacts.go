package desk

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/artifact"
	"github.com/windlass-run/windlass/engine/effect"
)

// artifacts has a call make what people see, or find it again. What it found is recorded, as others may be made at the
// same time. The text is for the model.
func (d *Desk) artifacts(ctx context.Context, key echo.Key, tool string, args json.RawMessage) (text string, failed bool, err error) {
	in, err := artifact.Read(tool, args)
	if err != nil {
		return "", false, err
	}
	if artifact.Makes(tool) {
		at := key.Step(echo.StepArtifact)
		a, problem := artifact.Of(tool, d.Session, at, in)
		if problem != "" {
			return problem, true, nil
		}
		a, err = effect.WholeReading[echo.Artifact](ctx, d.Rec, at, d.Site, func() echo.Payload { return a })
		return artifact.Made(&a), false, err
	}
	found, err := effect.WholeReading[echo.ArtifactsFound](ctx, d.Rec, key.Step(echo.StepFound), d.Site, func() echo.Payload {
		return echo.ArtifactsFound{Keys: d.Shelf.Find(in)}
	})
	if err != nil {
		return "", false, err
	}
	list, err := d.Shelf.At(found.Keys)
	if err != nil {
		return "", false, err
	}
	text, failed = artifact.Told(tool, in, list)
	return text, failed, nil
}
