package graph

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/internal/graph/layout"
)

// What is longer than these many columns is cut.
const (
	longestName  = 40
	longestLine  = 64
	longestLabel = 36
)

// The sizes of letters, which all have the same width.
const (
	nameWidth, nameHeight = 8, 18 // of a name, in 13 pixels
	lineWidth, lineHeight = 7, 15 // of everything else, in 11 pixels
	padding               = 10
	labelPadding          = 4
)

const svgStyle = `
  text { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; text-anchor: middle; fill: #1f2937; }
  .name { font-size: 13px; font-weight: bold; }
  .phase { fill: #eef2ff; stroke: #4f46e5; stroke-width: 1.5; }
  .tool { fill: #ecfdf5; stroke: #047857; stroke-width: 1.5; }
  .start { stroke-width: 3; }
  .edge { fill: none; stroke: #475569; stroke-width: 1.5; }
  .on_error { stroke: #b91c1c; }
  .context { stroke: #0369a1; stroke-dasharray: 5 4; }
  .label { fill: #ffffff; }
  text.on_error { fill: #b91c1c; stroke: none; }
  text.context { fill: #0369a1; stroke: none; }
`

// SVG returns the graph as a picture. The same graph is the same bytes.
func (g *Graph) SVG() string {
	r := layout.Layered(g.boxes(), g.arrows())
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", r.Width, r.Height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n<defs>\n", xmlText(g.Title), svgStyle)
	for _, m := range []struct{ name, colour string }{{"flow", "#475569"}, {"on_error", "#b91c1c"}, {"context", "#0369a1"}} {
		fmt.Fprintf(&b, `  <marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="%s"/></marker>`+"\n", m.name, m.colour)
	}
	b.WriteString("</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n")
	for i, e := range g.Edges {
		class := classOf(e.Kind)
		fmt.Fprintf(&b, `<path class="edge %s" d="%s" marker-end="url(#%s)"/>`+"\n", class, path(r.Edges[i].Points), class)
	}
	for i, e := range g.Edges {
		writeLabel(&b, e, r.Edges[i].Label)
	}
	for i := range g.Nodes {
		g.writeNode(&b, i, r.Nodes[i])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// classOf is the style of an edge, and the name of its arrow head.
func classOf(k Kind) string {
	if k == OnError || k == Context {
		return string(k)
	}
	return "flow"
}

func columns(s string) int { return runewidth.StringWidth(s) }

func (g *Graph) boxes() []layout.Node {
	out := make([]layout.Node, len(g.Nodes))
	for i, n := range g.Nodes {
		width := nameWidth * columns(cut(n.Name, longestName))
		for _, line := range n.Lines {
			width = max(width, lineWidth*columns(cut(line, longestLine)))
		}
		out[i] = layout.Node{Width: max(80, width+2*padding), Height: nameHeight + lineHeight*len(n.Lines) + 2*padding}
	}
	return out
}

func (g *Graph) arrows() []layout.Edge {
	out := make([]layout.Edge, len(g.Edges))
	for i, e := range g.Edges {
		out[i] = layout.Edge{From: e.From, To: e.To}
		if e.Label != "" {
			out[i].Width, out[i].Height = lineWidth*columns(cut(e.Label, longestLabel))+2*labelPadding, lineHeight+2
		}
	}
	return out
}

func (g *Graph) writeNode(b *strings.Builder, i int, at layout.Point) {
	n, box := g.Nodes[i], g.boxes()[i]
	class, round := "phase", 8
	if n.Tool {
		class, round = "tool", 0
	}
	if i == 0 {
		class += " start"
	}
	top := at.Y - box.Height/2
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`,
		xmlText(strings.Join(append([]string{n.Name}, n.Lines...), "\n")), class, at.X-box.Width/2, top, box.Width, box.Height, round)
	fmt.Fprintf(b, `<text class="name" x="%d" y="%d">%s</text>`, at.X, top+padding+13, xmlText(cut(n.Name, longestName)))
	for k, line := range n.Lines {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, at.X, top+padding+nameHeight+lineHeight*k+11, xmlText(cut(line, longestLine)))
	}
	b.WriteString("</g>\n")
}

func writeLabel(b *strings.Builder, e Edge, at layout.Point) {
	text := cut(e.Label, longestLabel)
	if text == "" {
		return
	}
	width := lineWidth*columns(text) + 2*labelPadding
	fmt.Fprintf(b, `<g><title>%s</title><rect class="label" x="%d" y="%d" width="%d" height="%d"/><text class="%s" x="%d" y="%d">%s</text></g>`+"\n",
		xmlText(e.Label), at.X-width/2, at.Y-lineHeight/2, width, lineHeight, classOf(e.Kind), at.X, at.Y+4, xmlText(text))
}

// path is a line through points that is upright at each of them.
func path(points []layout.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", points[0].X, points[0].Y)
	for i, to := range points[1:] {
		from := points[i]
		if from.X == to.X || from.Y == to.Y {
			fmt.Fprintf(&b, " L%d %d", to.X, to.Y)
			continue
		}
		middle := (from.Y + to.Y) / 2
		fmt.Fprintf(&b, " C%d %d %d %d %d %d", from.X, middle, to.X, middle, to.X, to.Y)
	}
	return b.String()
}

// cut shortens a text to some columns of what can be seen.
func cut(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, s)
	return runewidth.Truncate(s, most, "…")
}

// xmlText escapes a text for XML, without characters that it cannot have.
func xmlText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}
