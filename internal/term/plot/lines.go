package plot

import (
	"slices"
	"strings"
)

// Lines are several courses over the same calls. Each has a letter; those that are equal share one.
type Lines struct {
	Axes
	Courses []Part
	// Last returns what the legend says of the last values of courses.
	Last func(values []float64) []string
}

// markSeveral is where courses meet that are not equal.
const markSeveral = "*"

// course is one letter of the chart.
type course struct {
	mark   string
	names  []string
	values []float64
}

// Draw returns the lines of the chart, none when there are no calls. Of calls that share a column it
// shows the last.
func (l Lines) Draw(c Canvas) []string {
	courses := l.merged()
	if len(courses) == 0 || len(courses[0].values) == 0 {
		return nil
	}
	most := 0.0
	for _, co := range courses {
		most = max(most, slices.Max(co.values))
	}
	f := c.frame(l.Axes, most, len(courses[0].values))
	met := false
	for _, co := range courses {
		for slot := range f.count() {
			last := min((slot+1)*f.shared, f.calls) - 1
			x, r := slot*f.each+(f.bar()-1)/2, max(0, f.row(co.values[last])-1)
			if f.cells[r][x] != " " {
				f.cells[r][x], met = markSeveral, true
				continue
			}
			f.cells[r][x] = co.mark
		}
	}
	return f.lines(l.Axes, l.legend(courses, met))
}

// merged returns the courses with their letters: one for all that are equal.
func (l Lines) merged() []course {
	var out []course
	for _, p := range l.Courses {
		i := slices.IndexFunc(out, func(c course) bool { return slices.Equal(c.values, p.Values) })
		if i < 0 {
			out = append(out, course{mark: letter(len(out)), values: p.Values})
			i = len(out) - 1
		}
		out[i].names = append(out[i].names, p.Name)
	}
	return out
}

// letter returns the mark of a course: A to Z, then a to z, then ? for the rest.
func letter(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if n >= len(letters) {
		return "?"
	}
	return letters[n : n+1]
}

func (l Lines) legend(courses []course, met bool) []string {
	var values []float64
	for _, c := range courses {
		values = append(values, c.values[len(c.values)-1])
	}
	last := l.Last(values)
	var out []string
	for i, c := range courses {
		out = append(out, c.mark+" "+strings.Join(c.names, ", ")+" "+last[i])
	}
	if met {
		out = append(out, markSeveral+" several")
	}
	return out
}
