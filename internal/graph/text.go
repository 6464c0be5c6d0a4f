package graph

import "strings"

// textArrows are those of the kinds of edges, as a terminal shows them.
var textArrows = map[Kind]string{
	Next: "->", Handoff: "->", Routing: "->", After: "->", OnError: "=>", Child: "-o", Async: "~o", Context: "..>",
}

// Text returns the graph in lines: its cascade, then each node with what there is to say of it and where it leads.
func (g *Graph) Text() string {
	var b strings.Builder
	b.WriteString("cascade " + cut(g.Title, longestName) + "\n")
	for _, i := range g.inOrder() {
		n := g.Nodes[i]
		b.WriteString(nameLine(n) + "\n")
		for _, line := range n.Lines {
			b.WriteString("    " + cut(line, longestLine) + "\n")
		}
		for _, e := range g.Edges {
			if e.From != i {
				continue
			}
			line := "  " + textArrows[e.Kind] + " " + cut(g.Nodes[e.To].Name, longestName)
			if e.Label != "" {
				line += "  (" + cut(e.Label, longestLabel) + ")"
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// inOrder returns the indexes of the nodes: that of the whole cascade stands before its phases.
func (g *Graph) inOrder() []int {
	var first, others []int
	for i, n := range g.Nodes {
		if n.Kind == Candidates {
			first = append(first, i)
			continue
		}
		others = append(others, i)
	}
	return append(first, others...)
}

// nameLine names a node, and says what kind it is of where that is not a phase with a model.
func nameLine(n Node) string {
	name := cut(n.Name, longestName)
	if n.Kind == Cascade {
		return name + "  (cascade)"
	}
	return name
}
