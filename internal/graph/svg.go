package graph

import (
	"encoding/xml"
	"fmt"
	"slices"
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
	behind                = 4 // how far the cards behind a list's or that of candidates are moved, two of them
	markSize              = 8 // of a ward
)

const svgStyle = `
  text { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; text-anchor: middle; fill: #1f2937; }
  .name { font-size: 13px; font-weight: bold; }
  .phase { fill: #eef2ff; stroke: #4f46e5; stroke-width: 1.5; }
  .tool { fill: #ecfdf5; stroke: #047857; stroke-width: 1.5; }
  .cascade { fill: #fffbeb; stroke: #b45309; stroke-width: 1.5; }
  .start { stroke-width: 3; }
  .edge { fill: none; stroke: #475569; stroke-width: 1.5; }
  .on_error { stroke: #b91c1c; }
  .child { stroke: #b45309; }
  .async { stroke: #b45309; stroke-dasharray: 2 3; }
  .context { stroke: #0369a1; stroke-dasharray: 5 4; }
  .ward { stroke: #ffffff; stroke-width: 1; fill: #b91c1c; }
  .retry { fill: #b45309; }
  .advisory { fill: #64748b; }
  .label { fill: #ffffff; }
  text.on_error { fill: #b91c1c; stroke: none; }
  text.child, text.async { fill: #b45309; stroke: none; }
  text.context { fill: #0369a1; stroke: none; }
`

// triesStyle is added where there are candidates.
const triesStyle = `  .candidates { fill: #fdf2f8; stroke: #9d174d; stroke-width: 1.5; }
  .try { stroke-dasharray: 3 2; }
`

func (g *Graph) style() string {
	if slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Tries }) {
		return svgStyle + triesStyle
	}
	return svgStyle
}

// SVG returns the graph as a picture. The same graph is the same bytes.
func (g *Graph) SVG() string {
	r := layout.Layered(g.boxes(), g.arrows())
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", r.Width, r.Height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n<defs>\n", xmlText(g.Title), g.style())
	for _, m := range markers {
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

// markers are the heads of arrows.
var markers = []struct{ name, colour string }{
	{"flow", "#475569"}, {"on_error", "#b91c1c"}, {"child", "#b45309"}, {"async", "#b45309"}, {"context", "#0369a1"},
}

// classOf is the style of an edge, and the name of its arrow head.
func classOf(k Kind) string {
	switch k {
	case OnError, Context, Child, Async:
		return string(k)
	case Next, Handoff, Routing, After:
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
		if n.isStack() {
			out[i].Width, out[i].Height = out[i].Width+2*behind, out[i].Height+2*behind
		}
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

// rounds are the radii of the corners of nodes.
var rounds = map[NodeKind]int{ModelPhase: 8, ToolPhase: 0, Cascade: 20, Candidates: 8}

// classes are the styles of nodes.
var classes = map[NodeKind]string{ModelPhase: "phase", ToolPhase: "tool", Cascade: "cascade", Candidates: "candidates"}

// card is the rectangle of a node.
type card struct{ left, top, width, height int }

func (g *Graph) writeNode(b *strings.Builder, i int, at layout.Point) {
	n, box := g.Nodes[i], g.boxes()[i]
	class := classes[n.Kind]
	if n.Start {
		class += " start"
	}
	c := card{at.X - box.Width/2, at.Y - box.Height/2, box.Width, box.Height}
	fmt.Fprintf(b, `<g><title>%s</title>`, xmlText(strings.Join(append([]string{n.Name}, n.Lines...), "\n")))
	if n.isStack() { // the others look out to the right, above it
		other := class
		if n.Tries {
			other += " try"
		}
		c = card{c.left, c.top + 2*behind, c.width - 2*behind, c.height - 2*behind}
		for k := 2; k > 0; k-- {
			writeCard(b, other, card{c.left + k*behind, c.top - k*behind, c.width, c.height}, rounds[n.Kind])
		}
	}
	writeCard(b, class, c, rounds[n.Kind])
	middle := c.left + c.width/2
	fmt.Fprintf(b, `<text class="name" x="%d" y="%d">%s</text>`, middle, c.top+padding+13, xmlText(cut(n.Name, longestName)))
	for k, line := range n.Lines {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, middle, c.top+padding+nameHeight+lineHeight*k+11, xmlText(cut(line, longestLine)))
	}
	writeWards(b, n.Wards, c)
	b.WriteString("</g>\n")
}

// isStack reports whether the card of a node stands before others: those of elements, or those of candidates, which are dashed.
func (n *Node) isStack() bool { return n.List || n.Tries }

func writeCard(b *strings.Builder, class string, c card, round int) {
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, class, c.left, c.top, c.width, c.height, round)
}

// mostMarks is how many wards of a place have a mark of their own; the lines name all of them.
const mostMarks = 3

// writeWards writes a mark for each ward: above for those before a phase, at the left for those of its turns, below for those
// after it.
func writeWards(b *strings.Builder, wards []Ward, c card) {
	count := map[string]int{}
	for _, w := range wards {
		k := count[w.Place]
		if count[w.Place]++; k >= mostMarks {
			continue
		}
		x, y := c.left+padding+k*(markSize+4), c.top-markSize/2
		switch w.Place {
		case "turn":
			x, y = c.left-markSize/2, c.top+padding+k*(markSize+4)
		case "post":
			y = c.top + c.height - markSize/2
		}
		writeCard(b, strings.TrimSuffix("ward "+string(w.Mode), " blocking"), card{x, y, markSize, markSize}, 2)
	}
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
