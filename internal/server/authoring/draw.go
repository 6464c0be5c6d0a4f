package authoring

import (
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/graph"
)

// mostNodes is how many phases and cascades a picture has; what has more is shown as text.
const mostNodes = 150

// drawing is the graph of a cascade: a picture, and the same as text.
type drawing struct {
	Picture template.URL `json:"picture"` // "": there is none
	Alt     string       `json:"alt"`
	Text    string       `json:"text"`
}

// draw returns the graph of a cascade; nil for nil.
func draw(c *cascade.Cascade) *drawing {
	if c == nil {
		return nil
	}
	g := graph.Of(c)
	text, _ := excerpt.Unhidden(g.Text())
	d := &drawing{Text: text, Alt: fmt.Sprintf("The graph of the phases, with %d nodes and %d edges; as text it stands below.", len(g.Nodes), len(g.Edges))}
	if len(g.Nodes) <= mostNodes {
		// A picture of a data address is a document of its own without scripts; the policy of the page stops its style nowhere.
		d.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(g.SVG())))
	}
	return d
}
