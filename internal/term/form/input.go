package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
)

// input takes the keys of one part of an answer.
type input interface {
	key(k keys.Key) (done bool)
	show(width, height int, paint func(term.Colour, string) string) []string
	value() any // nil: nothing
	clear()
	writes() bool             // letters are its text
	keys(enter string) string // which it takes, for people, and what Enter does
}

// item is one that a person chooses from.
type item struct {
	value any
	label string
	hot   rune // the key that chooses it; 0: none
	sure  bool // its key does not answer yet: Enter does
}

// picker chooses one of a list, or several.
type picker struct {
	items   []item
	at      int
	several bool
	chosen  []bool // of several
	none    bool   // nothing is chosen
}

func newPicker(items []item, several bool) *picker {
	return &picker{items: items, several: several, chosen: make([]bool, len(items))}
}

func (p *picker) key(k keys.Key) bool {
	switch k.Name { //nolint:exhaustive // the others do nothing
	case keys.Up, keys.Left:
		p.to(p.at - 1)
	case keys.Down, keys.Right, keys.Tab:
		p.to(p.at + 1)
	case keys.Home:
		p.to(0)
	case keys.End:
		p.to(len(p.items) - 1)
	case keys.Enter:
		return true
	case keys.Char:
		return p.char([]rune(k.Text)[0])
	}
	return false
}

// to chooses another one; where none is chosen that is the first.
func (p *picker) to(at int) {
	if p.none {
		at = 0
	}
	p.at, p.none = (at+len(p.items))%len(p.items), false
}

// char takes a letter or a digit: of one choice it chooses and is done, of several it marks.
func (p *picker) char(r rune) bool {
	at := slices.IndexFunc(p.items, func(x item) bool { return x.hot != 0 && x.hot == unicode.ToLower(r) })
	if n := int(r - '1'); at < 0 && n >= 0 && n < min(len(p.items), 9) {
		at = n
	}
	switch {
	case r == ' ' && p.several:
		p.chosen[p.at] = !p.chosen[p.at]
	case at < 0: // of what is sure only with Enter, words that were meant for something else choose nothing
		p.none = p.none || slices.ContainsFunc(p.items, func(x item) bool { return x.sure })
	case p.several:
		p.at, p.chosen[at] = at, !p.chosen[at]
	default:
		p.at, p.none = at, false
		return p.items[at].hot != 0 && !p.items[at].sure
	}
	return false
}

func (p *picker) show(width, height int, paint func(term.Colour, string) string) []string {
	from := min(max(p.at-height/2, 0), max(len(p.items)-height, 0))
	var out []string
	for i := from; i < min(from+max(height, 1), len(p.items)); i++ {
		x := p.items[i]
		mark := "  "
		if i == p.at && !p.none {
			mark = "▸ "
		}
		if p.several {
			mark += map[bool]string{true: "[x] ", false: "[ ] "}[p.chosen[i]]
		}
		name := ""
		switch {
		case x.hot != 0:
			name = string(x.hot) + "  "
		case i < 9 && len(p.items) > 1:
			name = fmt.Sprint(i+1, "  ")
		}
		line := cut(mark+name+x.label, width)
		if i == p.at && !p.none {
			line = paint(term.Cyan, line)
		}
		out = append(out, line)
	}
	return out
}

func (p *picker) value() any {
	if !p.several {
		if p.none {
			return nil
		}
		return p.items[p.at].value
	}
	var out []any
	for i, is := range p.chosen {
		if is {
			out = append(out, p.items[i].value)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

func (p *picker) clear()       { p.none, p.chosen = true, make([]bool, len(p.items)) }
func (p *picker) writes() bool { return false }

func (p *picker) keys(enter string) string {
	if p.several {
		return "↑ ↓ and Space mark, Enter " + enter
	}
	return "↑ ↓ or a key choose, Enter " + enter
}

// rater rates from 1 to most.
type rater struct{ at, most int }

func (r *rater) key(k keys.Key) bool {
	switch k.Name { //nolint:exhaustive // the others do nothing
	case keys.Left, keys.Down:
		r.at = max(r.at-1, 1)
	case keys.Right, keys.Up:
		r.at = min(r.at+1, r.most)
	case keys.Enter:
		return true
	case keys.Char:
		if n := int([]rune(k.Text)[0] - '0'); n >= 1 && n <= r.most {
			r.at = n
		}
	}
	return false
}

func (r *rater) show(width, _ int, paint func(term.Colour, string) string) []string {
	var b strings.Builder
	for n := 1; n <= r.most; n++ {
		text := fmt.Sprintf(" %d ", n)
		if n == r.at {
			text = fmt.Sprintf("[%d]", n)
		}
		b.WriteString(text)
	}
	return []string{paint(term.Cyan, cut(b.String(), width))}
}

func (r *rater) value() any {
	if r.at == 0 {
		return nil
	}
	return json.Number(fmt.Sprint(r.at))
}

func (r *rater) clear()       { r.at = 0 }
func (r *rater) writes() bool { return false }
func (r *rater) keys(enter string) string {
	return fmt.Sprintf("1 to %d or ← → rate, Enter %s", r.most, enter)
}

// ranker puts labels into an order, the best first.
type ranker struct {
	picker
	ranked []int
}

func (r *ranker) key(k keys.Key) bool {
	switch {
	case k.Name == keys.Enter && len(r.ranked) == len(r.items):
		return true
	case k.Name == keys.Backspace:
		r.ranked = r.ranked[:max(len(r.ranked)-1, 0)]
	case k.Name == keys.Enter || k == keys.Of(' '):
		r.rank(r.at)
	case k.Name == keys.Char:
		before := r.at
		if r.picker.key(k); r.at != before || r.items[r.at].hot == []rune(strings.ToLower(k.Text))[0] {
			r.rank(r.at)
		}
	default:
		r.picker.key(k)
	}
	return false
}

func (r *ranker) rank(at int) {
	if !slices.Contains(r.ranked, at) {
		r.ranked = append(r.ranked, at)
	}
}

func (r *ranker) show(width, height int, paint func(term.Colour, string) string) []string {
	order := make([]string, len(r.ranked))
	for i, at := range r.ranked {
		order[i] = r.items[at].label
	}
	return append(r.picker.show(width, max(height-1, 1), paint), cut("The best first: "+strings.Join(order, " > "), width))
}

func (r *ranker) value() any {
	if len(r.ranked) == 0 {
		return nil
	}
	out := make([]any, len(r.ranked))
	for i, at := range r.ranked {
		out[i] = r.items[at].value
	}
	return out
}

func (r *ranker) clear() { r.ranked = nil }
func (r *ranker) keys(enter string) string {
	return "a key ranks the next best, Backspace takes one back, Enter " + enter
}
