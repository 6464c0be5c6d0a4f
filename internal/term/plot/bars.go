package plot

import "slices"

// Bars are a bar for each call, of a shaded stretch and a solid one above it, against a level.
type Bars struct {
	Axes
	Shaded, Solid, Level Part
}

// Part is a part of every bar.
type Part struct {
	Name   string
	Values []float64 // by call
}

// Draw returns the lines of the chart, none when there are no calls. Calls for which there is no room
// share a column, which shows their mean. A part above zero has a row where its bar has one for each
// part.
func (b Bars) Draw(c Canvas) []string {
	calls := len(b.Solid.Values)
	if calls == 0 {
		return nil
	}
	most := slices.Max(b.Level.Values)
	for i, v := range b.Solid.Values {
		most = max(most, v+b.Shaded.Values[i])
	}
	f := c.frame(b.Axes, most, calls)
	slight := false
	for slot := range f.count() {
		slight = b.column(f, slot) || slight
	}
	legend := []string{
		c.mark(markSolid) + " " + b.Solid.Name,
		c.mark(markShaded) + " " + b.Shaded.Name,
		c.mark(markLevel) + " " + b.Level.Name,
	}
	if slight {
		legend = append(legend, c.mark(markSlight)+" less than half a row")
	}
	return f.lines(b.Axes, legend)
}

// column draws the bar of a slot, and the level: its mark is at the lower edge of a row, so that of a
// level as high as the bar is on top of the bar. A bar of less than half a row is slight.
func (b Bars) column(f *frame, slot int) (slight bool) {
	shaded, solid := f.mean(b.Shaded.Values, slot), f.mean(b.Solid.Values, slot)
	low, high := f.rowsOf(shaded, solid)
	level := f.row(f.mean(b.Level.Values, slot))
	slight = high == 0 && shaded+solid > 0
	for x := slot * f.each; x < slot*f.each+f.bar(); x++ {
		for r := range high {
			f.cells[r][x] = markSolid
			if r < low {
				f.cells[r][x] = markShaded
			}
		}
		if slight {
			f.cells[0][x] = markSlight
		}
		if level > 0 {
			f.cells[level][x] = markLevel
		}
	}
	return slight
}

// rowsOf returns how high the shaded stretch and the whole bar are.
func (f *frame) rowsOf(shaded, solid float64) (low, high int) {
	low, high = f.row(shaded), f.row(shaded+solid)
	if high >= 2 {
		if solid > 0 {
			low = min(low, high-1)
		}
		if shaded > 0 {
			low = max(low, 1)
		}
	}
	return low, high
}
