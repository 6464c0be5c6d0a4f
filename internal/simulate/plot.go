package simulate

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The picture's measures, in pixels.
const (
	plotWidth   = 760
	panelHeight = 440
	marginLeft  = 76
	marginRight = 24
	marginTop   = 84
	marginFoot  = 62
	dotRadius   = 5
	charWidth   = 6.8 // of a letter of 12 pixels, on the wide side
	lineHeight  = 15
	longLabel   = 44 // characters
)

var plotColours = []string{"#4269d0", "#d1495b", "#3a8f5c", "#b8860b", "#7d5ba6", "#0f8b8d", "#a0522d", "#5f6b7a"}

// Plot draws cost over information kept as SVG: a panel for each group, a point for each policy.
func Plot(groups []*Group) string {
	var b strings.Builder
	height := panelHeight * len(groups)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n",
		plotWidth, height, plotWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, height)
	for i, g := range groups {
		newPanel(g, float64(i*panelHeight)).draw(&b)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// panel is the picture of one group. x is the share of references kept, y the money as a share of
// full history's, both in percent.
type panel struct {
	group  *Group
	top    float64
	x, y   axis
	points []dot
	taken  []box // by points and labels
}

type dot struct {
	name   string
	x, y   float64 // in percent
	px, py float64 // in pixels
}

type box struct{ x0, y0, x1, y1 float64 }

func (a box) overlaps(b box) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

type axis struct {
	low, high, tick float64
	from, to        float64 // pixels
}

func (a axis) pixel(v float64) float64 { return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from) }

// newAxis returns an axis with round ticks that has room around the values.
func newAxis(values []float64, from, to float64) axis {
	low, high := 0.0, 100.0
	if len(values) > 0 {
		low, high = slices.Min(values), slices.Max(values)
	}
	room := max((high-low)*0.12, 0.5)
	low, high = low-room, high+room
	tick := roundTick((high - low) / 6)
	return axis{low: math.Floor(low/tick) * tick, high: math.Ceil(high/tick) * tick, tick: tick, from: from, to: to}
}

// roundTick returns the smallest of 1, 2, 5, 10, ... and their tenths that is not below v.
func roundTick(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if unit*m >= v {
			return unit * m
		}
	}
	return unit * 10
}

func newPanel(g *Group, top float64) *panel {
	p := &panel{group: g, top: top}
	var xs, ys []float64
	for _, s := range g.Policies {
		kept := 100.0 // without references nothing can be lost
		if s.KeptShare != nil {
			kept = *s.KeptShare * 100
		}
		p.points = append(p.points, dot{name: s.Policy, x: kept, y: s.OfFull * 100})
		xs, ys = append(xs, kept), append(ys, s.OfFull*100)
	}
	p.x = newAxis(xs, marginLeft, plotWidth-marginRight)
	p.y = newAxis(ys, top+panelHeight-marginFoot, top+marginTop)
	for i := range p.points {
		d := &p.points[i]
		d.px, d.py = p.x.pixel(d.x), p.y.pixel(d.y)
		p.taken = append(p.taken, box{d.px - dotRadius - 1, d.py - dotRadius - 1, d.px + dotRadius + 1, d.py + dotRadius + 1})
	}
	return p
}

func (p *panel) draw(b *strings.Builder) {
	g := p.group
	title := cmp.Or(g.File, "all files")
	text(b, marginLeft, p.top+26, "start", `font-size="15" font-weight="bold"`, shorten(title, 80))
	text(b, marginLeft, p.top+45, "start", `fill="#555555"`,
		fmt.Sprintf("%d conversations, %d calls; %s", g.Conversations, g.Calls, g.Prices))
	text(b, marginLeft, p.top+62, "start", `fill="#555555"`, "To the right more is kept, below it costs less.")
	p.drawAxes(b)
	for i := range p.points {
		d := &p.points[i]
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s"><title>%s: kept %.1f %%, cost %.1f %%</title></circle>`+"\n",
			d.px, d.py, dotRadius, p.colour(i), html.EscapeString(shorten(d.name, 200)), d.x, d.y)
	}
	for i := range p.points {
		p.label(b, i)
	}
}

func (p *panel) colour(i int) string { return plotColours[i%len(plotColours)] }

func (p *panel) drawAxes(b *strings.Builder) {
	for v := p.x.low; v <= min(p.x.high, 100)+p.x.tick/2; v += p.x.tick {
		at := p.x.pixel(v)
		line(b, at, p.y.from, at, p.y.to, "#e6e6e6")
		text(b, at, p.y.from+18, "middle", `fill="#333333"`, number(v))
	}
	for v := p.y.low; v <= p.y.high+p.y.tick/2; v += p.y.tick {
		at := p.y.pixel(v)
		line(b, p.x.from, at, p.x.to, at, "#e6e6e6")
		text(b, p.x.from-8, at+4, "end", `fill="#333333"`, number(v))
	}
	line(b, p.x.from, p.y.from, p.x.to, p.y.from, "#333333")
	line(b, p.x.from, p.y.from, p.x.from, p.y.to, "#333333")
	text(b, (p.x.from+p.x.to)/2, p.y.from+42, "middle", "", "references kept in the request, %")
	middle := (p.y.from + p.y.to) / 2
	text(b, 20, middle, "middle", fmt.Sprintf(`transform="rotate(-90 20 %.1f)"`, middle), "cost, % of full history")
}

// label writes a point's name where nothing else stands, with a line to it when that is far.
func (p *panel) label(b *strings.Builder, i int) {
	d := &p.points[i]
	name := shorten(d.name, longLabel)
	where := p.place(d, float64(utf8.RuneCountInString(name))*charWidth)
	p.taken = append(p.taken, where)
	if near := (box{d.px - 16, d.py - 22, d.px + 16, d.py + 22}); !near.overlaps(where) {
		line(b, d.px, d.py, min(max(d.px, where.x0), where.x1), min(max(d.py, where.y0), where.y1), p.colour(i))
	}
	text(b, where.x0, where.y1-3, "start", fmt.Sprintf(`fill="%s"`, p.colour(i)), name)
}

// place finds a free box for a label: it looks around the point in growing distance.
func (p *panel) place(d *dot, width float64) box {
	frame := box{p.x.from + 2, p.y.to, p.x.to, p.y.from - 2}
	var spot box
	for away := 0.0; away < 400; away += lineHeight / 2.0 {
		gap := dotRadius + 4 + away
		for _, c := range [][2]float64{
			{d.px + gap, d.py - lineHeight/2},
			{d.px - gap - width, d.py - lineHeight/2},
			{d.px - width/2, d.py - gap - lineHeight},
			{d.px - width/2, d.py + gap},
			{d.px + gap, d.py - gap - lineHeight},
			{d.px + gap, d.py + gap},
			{d.px - gap - width, d.py - gap - lineHeight},
			{d.px - gap - width, d.py + gap},
		} {
			spot = box{c[0], c[1], c[0] + width, c[1] + lineHeight}
			inside := spot.x0 >= frame.x0 && spot.x1 <= frame.x1 && spot.y0 >= frame.y0 && spot.y1 <= frame.y1
			if inside && !slices.ContainsFunc(p.taken, spot.overlaps) {
				return spot
			}
		}
	}
	return spot // a picture with so many points has no room left; labels then share it
}

func text(b *strings.Builder, x, y float64, anchor, more, s string) {
	if more != "" {
		more = " " + more
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
}

func line(b *strings.Builder, x0, y0, x1, y1 float64, colour string) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x0, y0, x1, y1, colour)
}

// number writes a tick without the dust of floating point.
func number(v float64) string { return fmt.Sprintf("%.4g", math.Round(v*1000)/1000) }

// shorten cuts a text, and takes away what no XML may have.
func shorten(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
