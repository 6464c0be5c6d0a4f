package layout

import (
	"cmp"
	"slices"
	"sort"
)

// sweeps is how often the layers are put in order, and how often they are moved sideways. More make
// no visible difference for graphs of some hundred nodes.
const sweeps = 24

// order puts the vertices of each layer next to those that they lead to and come from, and keeps
// the order with the fewest crossings.
func (d *drawing) order() {
	d.firstOrder()
	best, fewest := d.copyLayers(), d.crossings()
	for sweep := 0; sweep < sweeps && fewest > 0; sweep++ {
		place := d.places()
		for k := range d.layers {
			layer, neighbours := d.layers[k], func(v int) []int { return d.vertices[v].up }
			if sweep%2 == 1 {
				layer, neighbours = d.layers[len(d.layers)-1-k], func(v int) []int { return d.vertices[v].down }
			}
			slices.SortStableFunc(layer, func(a, b int) int {
				return cmp.Compare(mean(neighbours(a), place, place[a]), mean(neighbours(b), place, place[b]))
			})
			for i, v := range layer {
				place[v] = i * unit
			}
		}
		if n := d.crossings(); n < fewest {
			best, fewest = d.copyLayers(), n
		}
	}
	d.layers = best
}

// unit is what a place in a layer counts, so that the mean of places is a whole number.
const unit = 1024

// mean is that of the values of some vertices, or alone without any.
func mean(of, values []int, alone int) int {
	if len(of) == 0 {
		return alone
	}
	sum := 0
	for _, v := range of {
		sum += values[v]
	}
	return sum / len(of)
}

// firstOrder has the vertices as they are come to from the first node.
func (d *drawing) firstOrder() {
	ranks := 0
	for i := range d.vertices {
		ranks = max(ranks, d.vertices[i].rank+1)
	}
	d.layers = make([][]int, ranks)
	seen := make([]bool, len(d.vertices))
	var visit func(int)
	visit = func(v int) {
		if seen[v] {
			return
		}
		seen[v] = true
		d.layers[d.vertices[v].rank] = append(d.layers[d.vertices[v].rank], v)
		for _, to := range d.vertices[v].down {
			visit(to)
		}
	}
	for v := range d.vertices {
		visit(v)
	}
}

func (d *drawing) places() []int {
	place := make([]int, len(d.vertices))
	for _, layer := range d.layers {
		for i, v := range layer {
			place[v] = i * unit
		}
	}
	return place
}

func (d *drawing) copyLayers() [][]int {
	out := make([][]int, len(d.layers))
	for i, layer := range d.layers {
		out[i] = slices.Clone(layer)
	}
	return out
}

// crossings counts the pairs of edges that cross between two layers.
func (d *drawing) crossings() int {
	place, n := d.places(), 0
	for _, layer := range d.layers {
		var ends []int // so far, sorted
		for _, v := range layer {
			down := make([]int, 0, len(d.vertices[v].down))
			for _, to := range d.vertices[v].down {
				down = append(down, place[to])
				n += len(ends) - sort.SearchInts(ends, place[to]+1)
			}
			ends = append(ends, down...)
			slices.Sort(ends)
		}
	}
	return n
}

// placeX moves the vertices of each layer towards the middle of their neighbours, as far as their
// order and distances allow. Long edges are kept straight.
func (d *drawing) placeX() {
	for _, layer := range d.layers {
		for i, v := range layer {
			if i > 0 {
				d.vertices[v].x = d.vertices[layer[i-1]].x + d.distance(layer[i-1], v)
			}
		}
	}
	for sweep := range 2 * sweeps {
		for k := range d.layers {
			layer := d.layers[k]
			if sweep%2 == 1 {
				layer = d.layers[len(d.layers)-1-k]
			}
			d.settle(layer, sweep)
		}
	}
	d.moveLeft()
}

// moveLeft takes away what is empty on the left.
func (d *drawing) moveLeft() {
	if len(d.vertices) == 0 {
		return
	}
	left := d.vertices[0].x
	for i := range d.vertices {
		left = min(left, d.vertices[i].x-d.vertices[i].width/2)
	}
	for i := range d.vertices {
		d.vertices[i].x += margin - left
	}
}

// distance is the least one between the middles of two neighbours in a layer.
func (d *drawing) distance(left, right int) int {
	gap := gapBend
	if d.vertices[left].node >= 0 && d.vertices[right].node >= 0 {
		gap = gapX
	}
	return (d.vertices[left].width+1)/2 + (d.vertices[right].width+1)/2 + gap
}

// wish is where a vertex would like to be, and how much that counts. The first sweeps look at one
// side only, so that what is far away is moved at all; the others look at both.
func (d *drawing) wish(v, sweep int) (x, weight int) {
	t := &d.vertices[v]
	near := slices.Concat(t.up, t.down)
	switch {
	case sweep >= sweeps:
	case sweep%2 == 0 && len(t.up) > 0:
		near = t.up
	case sweep%2 == 1 && len(t.down) > 0:
		near = t.down
	}
	if len(near) == 0 {
		return t.x, 1
	}
	sum, n := 0, 0
	for _, u := range near {
		count := 1
		if t.node < 0 && d.vertices[u].node < 0 {
			count = 8
		}
		sum, n = sum+count*d.vertices[u].x, n+count
	}
	return sum / n, n
}

// block is a run of neighbours that touch: they move together.
type block struct{ count, sum, weight int }

// settle gives each vertex of a layer the place nearest to its wish, by least squares: neighbours
// that would overlap are pooled.
func (d *drawing) settle(layer []int, sweep int) {
	var blocks []block
	offsets := make([]int, len(layer)) // from the first, when all touch
	for i, v := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + d.distance(layer[i-1], v)
		}
		x, weight := d.wish(v, sweep)
		blocks = append(blocks, block{1, (x - offsets[i]) * weight, weight})
		for n := len(blocks); n > 1 && blocks[n-2].sum*blocks[n-1].weight > blocks[n-1].sum*blocks[n-2].weight; n-- {
			a, b := blocks[n-2], blocks[n-1]
			blocks = append(blocks[:n-2], block{a.count + b.count, a.sum + b.sum, a.weight + b.weight})
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			d.vertices[layer[i]].x = b.sum/b.weight + offsets[i]
			i++
		}
	}
}
