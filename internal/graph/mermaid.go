package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// mermaidArrows are the lines of the kinds of edges: context is dotted, what happens after a failure
// thick, and a cascade that a phase begins has a circle at its end.
var mermaidArrows = map[Kind]string{
	Next: "-->", Handoff: "-->", Routing: "-->", After: "-->", OnError: "==>", Child: "--o", Async: "-.-o", Context: "-.->",
}

// mermaidShapes are the brackets around the texts of nodes.
var mermaidShapes = map[NodeKind][2]string{ModelPhase: {"[", "]"}, ToolPhase: {"[[", "]]"}, Cascade: {"([", "])"}, Candidates: {"{{", "}}"}}

// Mermaid returns the graph as the text of a Mermaid flowchart.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	for i, n := range g.Nodes {
		label := mermaidText(n.Name)
		for _, line := range n.Lines {
			label += "<br>" + mermaidText(cut(line, longestLine))
		}
		shape := mermaidShapes[n.Kind]
		fmt.Fprintf(&b, "    p%d%s\"%s\"%s\n", i, shape[0], label, shape[1])
	}
	for _, e := range g.Edges {
		label := ""
		if e.Label != "" {
			label = `|"` + mermaidText(cut(e.Label, longestLabel)) + `"|`
		}
		fmt.Fprintf(&b, "    p%d %s%s p%d\n", e.From, mermaidArrows[e.Kind], label, e.To)
	}
	return b.String()
}

// mermaidText writes a text so that Mermaid takes it as it is: all but letters, digits and a few
// marks have their number, as in "#34;". What cannot be seen is left out.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" _-.,:/()×", r):
			b.WriteRune(r)
		case unicode.IsPrint(r):
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
