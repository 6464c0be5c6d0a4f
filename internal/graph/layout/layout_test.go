package layout

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSound demands what holds of every layout: all is within the picture, no node or label is on
// another one, and each edge runs from its first node to its last.
func requireSound(t *testing.T, nodes []Node, edges []Edge) {
	t.Helper()
	r := Layered(nodes, edges)
	require.Equal(t, r, Layered(nodes, edges), "the same graph has another layout")
	type box struct{ left, top, right, bottom int }
	var boxes []box
	add := func(at Point, width, height int) {
		b := box{at.X - width/2, at.Y - height/2, at.X + width/2, at.Y + height/2}
		require.True(t, b.left >= 0 && b.top >= 0 && b.right <= r.Width && b.bottom <= r.Height, "%v is not within %d x %d", b, r.Width, r.Height)
		for _, o := range boxes {
			require.False(t, b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom, "%v is on %v", b, o)
		}
		boxes = append(boxes, b)
	}
	for i, n := range nodes {
		add(r.Nodes[i], n.Width, n.Height)
	}
	for i, e := range edges {
		if e.Width > 0 && e.Height > 0 {
			add(r.Edges[i].Label, e.Width, e.Height)
		}
		points := r.Edges[i].Points
		require.GreaterOrEqual(t, len(points), 2)
		touches(t, boxes[e.From], points[0])
		touches(t, boxes[e.To], points[len(points)-1])
		for _, p := range points {
			require.True(t, p.X >= 0 && p.Y >= 0 && p.X <= r.Width && p.Y <= r.Height)
		}
	}
}

func touches(t *testing.T, b struct{ left, top, right, bottom int }, p Point) {
	t.Helper()
	inside := p.X >= b.left-1 && p.X <= b.right+1 && p.Y >= b.top-1 && p.Y <= b.bottom+1
	within := p.X > b.left+1 && p.X < b.right-1 && p.Y > b.top+1 && p.Y < b.bottom-1
	require.True(t, inside && !within, "%v is not on the border of %v", p, b)
}

func TestLayered(t *testing.T) {
	t.Parallel()
	n := Node{Width: 80, Height: 40}
	for name, c := range map[string]struct {
		nodes []Node
		edges []Edge
		want  []Point
	}{
		"nothing":                {nil, nil, []Point{}},
		"one":                    {[]Node{n}, nil, []Point{{56, 36}}},
		"a chain is straight":    {[]Node{n, n, n}, []Edge{{From: 0, To: 1}, {From: 1, To: 2}}, []Point{{56, 36}, {56, 116}, {56, 196}}},
		"a circle goes down":     {[]Node{n, n}, []Edge{{From: 0, To: 1}, {From: 1, To: 0}}, []Point{{56, 36}, {56, 116}}},
		"two ways, one below":    {[]Node{n, n, n, n}, []Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}}, []Point{{110, 36}, {56, 116}, {164, 116}, {110, 196}}},
		"a loop has room":        {[]Node{n}, []Edge{{From: 0, To: 0, Width: 20, Height: 10}}, []Point{{100, 36}}},
		"no edges: side by side": {[]Node{n, n}, nil, []Point{{56, 36}, {164, 36}}},
	} {
		requireSound(t, c.nodes, c.edges)
		require.Equal(t, c.want, Layered(c.nodes, c.edges).Nodes, name)
	}
}

// A graph whose order by index would cross is drawn without crossings.
func TestOrderAvoidsCrossings(t *testing.T) {
	t.Parallel()
	nodes := make([]Node, 6)
	for i := range nodes {
		nodes[i] = Node{40, 20}
	}
	edges := []Edge{{From: 0, To: 4}, {From: 1, To: 3}, {From: 2, To: 5}, {From: 0, To: 5}}
	d := &drawing{nodes: nodes, edges: edges, reversed: make([]bool, 4), chains: make([][]int, 4), labels: make([]int, 4)}
	for i, n := range nodes {
		d.vertices = append(d.vertices, vertex{node: i, width: n.Width, height: n.Height})
	}
	d.breakCircles()
	d.rank()
	d.split()
	d.order()
	require.Zero(t, d.crossings())
}

func FuzzLayered(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*3), uint8(seed*5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count, links uint8) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a graph for a test
		nodes := make([]Node, 1+count%40)
		for i := range nodes {
			nodes[i] = Node{20 + 2*r.IntN(100), 10 + 2*r.IntN(30)}
		}
		edges := make([]Edge, links%100)
		for i := range edges {
			edges[i] = Edge{From: r.IntN(len(nodes)), To: r.IntN(len(nodes)), Width: 2 * r.IntN(60), Height: 2 * r.IntN(10)}
		}
		seen := map[int]bool{} // one loop a node is drawn apart from others
		kept := edges[:0]
		for _, e := range edges {
			if e.From == e.To && seen[e.From] {
				continue
			}
			seen[e.From] = seen[e.From] || e.From == e.To
			kept = append(kept, e)
		}
		requireSound(t, nodes, kept)
	})
}
