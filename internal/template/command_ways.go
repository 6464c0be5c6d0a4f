package template

import (
	"errors"
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// maxWays is how many ways through a template's tags are looked at before it is rendered.
const maxWays = 8

// checkWays checks a command's template before there are values: on the first way through every tag, on the second, and
// so on. What the ways do not show, such as what a raw value brings along, is found when the command is rendered.
func checkWays(b block) error {
	for way, ways := 0, 1; way < min(ways, maxWays); way++ {
		s := &sketch{way: way, ways: 1}
		s.add(b)
		ways = max(ways, s.ways)
		err := checkCommand(s.text.String(), len(s.at))
		var wrong *misplacedError
		switch {
		case err == nil, errors.Is(err, errUnreadable) && s.loose:
		case errors.As(err, &wrong) && wrong.value >= 0:
			return s.at[wrong.value].hinted(err)
		default:
			return s.at[0].hinted(err)
		}
	}
	return nil
}

func (p pos) hinted(err error) *SyntaxError {
	e := p.syntax("%v", err)
	if !errors.Is(err, errUnreadable) {
		e.Hint = placedHint
	}
	return e
}

// sketch is a command on one way through its template's tags.
type sketch struct {
	way   int
	ways  int // that there are
	text  strings.Builder
	at    []pos // of the values
	loose bool  // it may be no command as it stands
}

func (s *sketch) add(x stmt) {
	switch x := x.(type) {
	case block:
		for _, part := range x {
			s.add(part)
		}
	case *constant:
		s.text.WriteString(x.text)
	case *output:
		s.output(x)
	case *ifStmt:
		bodies := make([]stmt, 0, len(x.arms)+1)
		for _, a := range x.arms {
			bodies = append(bodies, a.body)
		}
		s.choose(append(bodies, x.otherwise)...)
	case *forStmt:
		s.choose(x.body, x.otherwise)
	case *withStmt:
		s.add(x.body)
	}
}

func (s *sketch) output(x *output) {
	switch {
	case x.raw:
		s.loose = true
		s.text.WriteString("raw")
	case x.number:
		s.text.WriteString("'1'")
	default:
		s.text.WriteString("'" + placeholder(len(s.at)) + "'")
		s.at = append(s.at, x.at)
	}
}

func (s *sketch) choose(ways ...stmt) {
	s.loose, s.ways = true, max(s.ways, len(ways))
	if body := ways[min(s.way, len(ways)-1)]; body != nil {
		s.add(body)
	}
}

// endsInNumber reports whether the last filter of an expression makes a number of whatever it is given.
func endsInNumber(n nodes.Node) bool {
	fe, ok := n.(*nodes.FilteredExpression)
	if !ok || len(fe.Filters) == 0 {
		return false
	}
	return slices.Contains([]string{"int", "float", "length", "count", "round"}, fe.Filters[len(fe.Filters)-1].Name)
}
