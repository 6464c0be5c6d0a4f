// Package layout places the nodes of a directed graph in layers, so that edges lead downwards where they can, and routes the
// edges around nodes. The same graph gets the same layout on every machine: it calculates with whole numbers only.
package layout

import "slices"

// Node is a rectangle to place.
type Node struct{ Width, Height int }

// Edge leads from one node to another, by their indexes. Width and Height are those of its label.
type Edge struct{ From, To, Width, Height int }

// Point is a place; y grows downwards.
type Point struct{ X, Y int }

// Route is where an edge runs, from the border of its first node to that of its last.
type Route struct {
	Points []Point
	Label  Point // the middle of the label
}

// Result has the middle of each node and the route of each edge. All is within Width and Height.
type Result struct {
	Width, Height int
	Nodes         []Point
	Edges         []Route
}

// The distances between neighbours.
const (
	gapX    = 28 // of two nodes side by side
	gapBend = 14 // of two edges, and of an edge and a node
	gapY    = 20 // of two layers; a layer of edges is between two of nodes
	loop    = 24 // how far an edge from a node to itself reaches out
	margin  = 16
)

// vertex is a node, or the place where an edge crosses a layer.
type vertex struct {
	node          int // -1: of an edge
	width, height int
	rank, x       int
	up, down      []int // neighbours in the layers above and below
}

// drawing is the work on one graph.
type drawing struct {
	nodes    []Node
	edges    []Edge
	reversed []bool   // edges that lead upwards, so that the others make no circle
	vertices []vertex // the nodes, then the crossings
	chains   [][]int  // of each edge the vertices from its upper to its lower node; nil for a loop
	labels   []int    // of each edge the vertex of its label
	layers   [][]int  // vertices by rank, from left to right
	tops     []int    // y of the upper border of each layer
	heights  []int
}

// Layered places a graph. Indexes in edges must be those of nodes.
func Layered(nodes []Node, edges []Edge) Result {
	d := &drawing{nodes: nodes, edges: edges, reversed: make([]bool, len(edges)), chains: make([][]int, len(edges)), labels: make([]int, len(edges))}
	for i, n := range nodes {
		d.vertices = append(d.vertices, vertex{node: i, width: n.Width, height: n.Height})
	}
	d.breakCircles()
	d.rank()
	d.split()
	d.order()
	d.placeX()
	d.placeY()
	return d.result()
}

// breakCircles reverses the edges that lead back to a node on the way to them.
func (d *drawing) breakCircles() {
	out := make([][]int, len(d.nodes))
	for i, e := range d.edges {
		out[e.From] = append(out[e.From], i)
	}
	const onWay, done = 1, 2
	state := make([]int, len(d.nodes))
	var visit func(int)
	visit = func(n int) {
		state[n] = onWay
		for _, e := range out[n] {
			switch to := d.edges[e].To; {
			case to != n && state[to] == onWay:
				d.reversed[e] = true
			case state[to] == 0:
				visit(to)
			}
		}
		state[n] = done
	}
	for n := range d.nodes {
		if state[n] == 0 {
			visit(n)
		}
	}
}

// ends returns the upper and the lower node of an edge.
func (d *drawing) ends(edge int) (upper, lower int) {
	e := d.edges[edge]
	if d.reversed[edge] {
		return e.To, e.From
	}
	return e.From, e.To
}

// rank gives each node the even layer below all that lead to it.
func (d *drawing) rank() {
	waits := make([]int, len(d.nodes)) // for so many edges from above
	below := make([][]int, len(d.nodes))
	for i, e := range d.edges {
		if e.From == e.To {
			continue
		}
		upper, lower := d.ends(i)
		waits[lower]++
		below[upper] = append(below[upper], lower)
	}
	var ready []int
	for n := range d.nodes {
		if waits[n] == 0 {
			ready = append(ready, n)
		}
	}
	for ; len(ready) > 0; ready = ready[1:] {
		n := ready[0]
		for _, to := range below[n] {
			d.vertices[to].rank = max(d.vertices[to].rank, d.vertices[n].rank+2)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
}

// split puts a vertex where an edge crosses a layer. The one next to the edge's first node is as
// large as the label. A loop widens its node to both sides, so that the node stays in the middle.
func (d *drawing) split() {
	for i, e := range d.edges {
		if e.From == e.To {
			d.vertices[e.From].width += 2 * (loop + e.Width)
			continue
		}
		upper, lower := d.ends(i)
		last := upper
		d.chains[i] = []int{upper}
		for rank := d.vertices[upper].rank + 1; rank < d.vertices[lower].rank; rank++ {
			d.vertices = append(d.vertices, vertex{node: -1, rank: rank})
			d.join(last, len(d.vertices)-1)
			last = len(d.vertices) - 1
			d.chains[i] = append(d.chains[i], last)
		}
		d.join(last, lower)
		d.labels[i] = d.chains[i][1]
		if d.reversed[i] {
			d.labels[i] = last
		}
		d.vertices[d.labels[i]].width, d.vertices[d.labels[i]].height = e.Width, e.Height
		d.chains[i] = append(d.chains[i], lower)
	}
}

func (d *drawing) join(upper, lower int) {
	d.vertices[upper].down = append(d.vertices[upper].down, lower)
	d.vertices[lower].up = append(d.vertices[lower].up, upper)
}

// placeY puts the layers below each other.
func (d *drawing) placeY() {
	y := margin
	for _, layer := range d.layers {
		height := 0
		for _, v := range layer {
			height = max(height, d.vertices[v].height)
		}
		d.tops, d.heights = append(d.tops, y), append(d.heights, height)
		y += height + gapY
	}
}

func (d *drawing) middle(v int) Point {
	rank := d.vertices[v].rank
	return Point{d.vertices[v].x, d.tops[rank] + d.heights[rank]/2}
}

func (d *drawing) result() Result {
	r := Result{Nodes: make([]Point, len(d.nodes)), Edges: make([]Route, len(d.edges))}
	for i := range d.vertices {
		r.Width = max(r.Width, d.vertices[i].x+d.vertices[i].width/2+margin)
	}
	if n := len(d.tops); n > 0 {
		r.Height = d.tops[n-1] + d.heights[n-1] + margin
	}
	for i := range d.nodes {
		r.Nodes[i] = d.middle(i)
	}
	ports := d.ports()
	for i := range d.edges {
		if d.chains[i] == nil {
			r.Edges[i] = d.loop(i)
			continue
		}
		r.Edges[i] = Route{Points: d.route(i, ports[i]), Label: d.middle(d.labels[i])}
	}
	return r
}

// port is where an edge leaves its upper node and comes to its lower one.
type port struct{ upper, lower int }

// ports spreads the edges of a node over its borders, in the order in which they come from there.
func (d *drawing) ports() []port {
	ports := make([]port, len(d.edges))
	for n, node := range d.nodes {
		var above, below []int
		for i, chain := range d.chains {
			if chain != nil && chain[0] == n {
				below = append(below, i)
			}
			if chain != nil && chain[len(chain)-1] == n {
				above = append(above, i)
			}
		}
		at := func(edges []int, next func([]int) int, set func(edge, x int)) {
			slices.SortStableFunc(edges, func(a, b int) int {
				return d.vertices[next(d.chains[a])].x - d.vertices[next(d.chains[b])].x
			})
			step := min(18, (node.Width-16)/max(1, len(edges)))
			for k, e := range edges {
				set(e, d.vertices[n].x+step*(2*k-len(edges)+1)/2)
			}
		}
		at(below, func(c []int) int { return c[1] }, func(e, x int) { ports[e].upper = x })
		at(above, func(c []int) int { return c[len(c)-2] }, func(e, x int) { ports[e].lower = x })
	}
	return ports
}

// route leads an edge straight through each layer that it crosses.
func (d *drawing) route(edge int, at port) []Point {
	chain := d.chains[edge]
	first, last := chain[0], chain[len(chain)-1]
	points := []Point{{at.upper, d.middle(first).Y + d.nodes[first].Height/2}}
	for _, v := range chain[1 : len(chain)-1] {
		rank := d.vertices[v].rank
		points = append(points, Point{d.vertices[v].x, d.tops[rank]})
		if d.heights[rank] > 0 {
			points = append(points, Point{d.vertices[v].x, d.tops[rank] + d.heights[rank]})
		}
	}
	points = append(points, Point{at.lower, d.middle(last).Y - d.nodes[last].Height/2})
	if d.reversed[edge] {
		slices.Reverse(points)
	}
	return points
}

// loop leads an edge out of the right border of its node and back.
func (d *drawing) loop(edge int) Route {
	e := d.edges[edge]
	m, n := d.middle(e.From), d.nodes[e.From]
	x, y := m.X+n.Width/2, n.Height/4
	return Route{
		Points: []Point{{x, m.Y - y}, {x + loop - 6, m.Y - y}, {x + loop - 6, m.Y + y}, {x, m.Y + y}},
		Label:  Point{x + loop + e.Width/2, m.Y},
	}
}
