package reports

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/artifacts"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
)

// Artifacts has a row for each artifact.
func Artifacts(list []artifacts.Found) *term.Table {
	t := term.NewTable("id", "kind", "title", "type", "tags", "phase", "made", ">bytes")
	for _, a := range list {
		t.Add(a.ID, string(a.Kind), oneline.Of(a.Title), oneline.Of(a.Type), oneline.Of(strings.Join(a.Tags, ", ")), a.Phase,
			a.At.Local().Format("2006-01-02 15:04"), fmt.Sprint(len(a.HTML)))
	}
	return t.Key("id").Drop("tags", "made", "phase")
}
