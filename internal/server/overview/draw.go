package overview

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Spark is a line of what runs of a cascade cost, the newest at its right.
type Spark struct {
	Lines  []string // points of SVG; a run whose cost is not known parts two lines
	X, Y   float64  // of the newest run whose cost is known
	Says   string   // in words
	Newest string
	Dear   string
}

// The size of a sparkline, in pixels, and how far it stays from its edges.
const (
	sparkWidth  = 120
	sparkHeight = 28
	sparkEdge   = 4
)

// newSpark draws what runs cost, the oldest first; nil when no cost is known.
func newSpark(runs []figures.Spent) *Spark {
	dearest, known := 0.0, 0
	for _, r := range runs {
		if r.USD != nil {
			known++
			dearest = max(dearest, *r.USD)
		}
	}
	if known == 0 {
		return nil
	}
	s := &Spark{Dear: quantity.USD(dearest)}
	var line []string
	flush := func() {
		if len(line) > 0 {
			s.Lines, line = append(s.Lines, strings.Join(line, " ")), nil
		}
	}
	for i, r := range runs {
		if r.USD == nil {
			flush()
			continue
		}
		s.X = sparkEdge + (sparkWidth-2*sparkEdge)*float64(i)/float64(max(len(runs)-1, 1))
		s.Y = sparkHeight - sparkEdge
		if dearest > 0 {
			s.Y -= (sparkHeight - 2*sparkEdge) * *r.USD / dearest
		}
		s.Newest = quantity.USD(*r.USD)
		line = append(line, fmt.Sprintf("%.1f,%.1f", s.X, s.Y))
	}
	flush()
	s.Says = fmt.Sprintf("Cost of the newest %s: the newest %s, the most expensive %s", quantity.Of(len(runs), "run"), s.Newest, s.Dear)
	return s
}

// XText and YText are where the newest run is, as attributes of SVG.
func (s *Spark) XText() string { return fmt.Sprintf("%.1f", s.X) }

// YText is the lower one of [Spark.XText].
func (s *Spark) YText() string { return fmt.Sprintf("%.1f", s.Y) }

// Column is a day in a chart. X and W are attributes of SVG.
type Column struct {
	X, W     string
	Y, H     int
	PY, PH   int // of what is pretended, on top
	Title    string
	Day      string
	Label    string // below the column; "" for most
	LabelX   string
	LabelPos string // where the label is anchored
}

// Chart is a chart of money by day.
type Chart struct {
	Columns []Column
	Lines   []GridLine
	Says    string
	Left    int // days before the first one
}

// GridLine is a height of a chart with its value.
type GridLine struct {
	Y    int
	Text string
}

// Height is that of the drawing in pixels.
func (*Chart) Height() int { return chartTop + chartHeight + chartFoot }

// Base is where the columns stand.
func (*Chart) Base() int { return chartTop + chartHeight }

// LabelY is where the labels of days stand.
func (c *Chart) LabelY() int { return c.Base() + 16 }

const (
	chartTop    = 16
	chartHeight = 140
	chartFoot   = 24
	mostDays    = 120
)

// dayOf is what a day cost.
type dayOf struct {
	day           time.Time
	usd, pretend  float64
	calls, unsure uint64
}

// daysOf returns all days from the first to the last, those without calls among them, and how many are left out before.
func daysOf(rows []clickhouse.CostRow) (days []dayOf, left int) {
	at := map[time.Time]clickhouse.CostRow{}
	var first, last time.Time
	for _, r := range rows {
		day, err := time.Parse(time.DateOnly, r.Day)
		if err != nil {
			continue
		}
		if at[day] = r; first.IsZero() || day.Before(first) {
			first = day
		}
		if day.After(last) {
			last = day
		}
	}
	if first.IsZero() {
		return nil, 0
	}
	if n := int(last.Sub(first).Hours()/24) + 1; n > mostDays {
		left = n - mostDays
		first = first.AddDate(0, 0, left)
	}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		r := at[day]
		d := dayOf{day: day, calls: r.Calls + r.EmbeddingCalls, unsure: r.UnknownCostCalls}
		if r.CostUSD != nil {
			d.usd = *r.CostUSD
		}
		if r.PretendUSD != nil {
			d.pretend = *r.PretendUSD
		}
		days = append(days, d)
	}
	return days, left
}

// newChart draws what days cost; nil for none.
func newChart(rows []clickhouse.CostRow) *Chart {
	days, left := daysOf(rows)
	if len(days) == 0 {
		return nil
	}
	dearest, sum := 0.0, 0.0
	for _, d := range days {
		dearest, sum = max(dearest, d.usd+d.pretend), sum+d.usd
	}
	c := &Chart{Left: left}
	c.Says = fmt.Sprintf("Cost by day from %s to %s: %s in all; the table has each day", days[0].day.Format(time.DateOnly), days[len(days)-1].day.Format(time.DateOnly), quantity.USD(sum))
	if dearest > 0 {
		c.Lines = []GridLine{{chartTop, quantity.USD(dearest)}, {chartTop + chartHeight/2, quantity.USD(dearest / 2)}}
	}
	for i, d := range days {
		c.Columns = append(c.Columns, columnOf(d, i, len(days), dearest))
	}
	return c
}

const (
	widest  = 6.0 // how wide a column is at most, in percent of the chart
	fewDays = 3   // so few that each has its label
)

func columnOf(d dayOf, i, of int, dearest float64) Column {
	slot := 100 / float64(of)
	w := min(slot*0.8, widest)
	middle := slot * (float64(i) + 0.5)
	c := Column{X: fmt.Sprintf("%.3f%%", middle-w/2), W: fmt.Sprintf("%.3f%%", w), Day: d.day.Format(time.DateOnly), LabelX: fmt.Sprintf("%.3f%%", middle), LabelPos: "middle"}
	if dearest > 0 {
		c.H, c.PH = int(chartHeight*d.usd/dearest+0.5), int(chartHeight*d.pretend/dearest+0.5)
	}
	if d.usd > 0 {
		c.H = max(c.H, 1)
	}
	c.Y, c.PY = chartTop+chartHeight-c.H, chartTop+chartHeight-c.H-c.PH
	c.Title = c.Day + ": " + quantity.USD(d.usd)
	if d.unsure > 0 {
		c.Title += " + unknown"
	}
	if d.pretend > 0 {
		c.Title += ", pretend " + quantity.USD(d.pretend)
	}
	c.Title += ", " + quantity.Of(int(d.calls), "call")
	switch {
	case of <= fewDays:
		c.Label = c.Day
	case i == 0:
		c.Label, c.LabelX, c.LabelPos = c.Day, "0", "start"
	case i == of-1:
		c.Label, c.LabelX, c.LabelPos = c.Day, "100%", "end"
	}
	return c
}
