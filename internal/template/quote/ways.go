package quote

import (
	"errors"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

// maxWays is how many ways through a template's tags are looked at before it is rendered.
const maxWays = 8

// checkWays checks a command's template on the first way through every tag, on the second, and so
// on. What the ways do not show is found when the command is rendered.
func checkWays(b syntax.Block) {
	for way, ways := 0, 1; way < min(ways, maxWays); way++ {
		s := &sketch{way: way, ways: 1}
		s.block(b)
		ways = max(ways, s.ways)
		err := checkCommand(s.text.String(), len(s.at))
		var wrong *misplacedError
		switch {
		case err == nil, errors.Is(err, errUnreadable) && s.loose:
		case errors.As(err, &wrong) && wrong.value >= 0:
			panic(hinted(s.at[wrong.value], err))
		default:
			panic(hinted(s.at[0], err))
		}
	}
}

func hinted(at syntax.Pos, err error) *syntax.Error {
	e := at.Errorf("%v", err)
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
	at    []syntax.Pos // of the values
	loose bool         // it may be no command as it stands
}

func (s *sketch) block(b syntax.Block) {
	for _, x := range b {
		s.add(x)
	}
}

func (s *sketch) add(x syntax.Stmt) {
	switch x := x.(type) {
	case *syntax.Text:
		s.text.WriteString(x.Text)
	case *syntax.Output:
		if x.When == nil {
			s.output(x)
			return
		}
		s.choose(2, func(way int) {
			if way == 0 {
				s.output(x)
			} else if x.Else != nil {
				s.add(x.Else)
			}
		})
	case *syntax.If:
		s.choose(len(x.Arms)+1, func(way int) {
			if way < len(x.Arms) {
				s.block(x.Arms[way].Body)
			} else {
				s.block(x.Else)
			}
		})
	case *syntax.For:
		s.choose(2, func(way int) { s.block([]syntax.Block{x.Body, x.Else}[way]) })
	case *syntax.With:
		s.block(x.Body)
	}
}

func (s *sketch) output(x *syntax.Output) {
	switch {
	case x.Raw:
		s.loose = true
		s.text.WriteString("raw")
	case endsInNumber(x.X):
		s.text.WriteString("'1'")
	default:
		s.text.WriteString("'" + placeholder(len(s.at)) + "'")
		s.at = append(s.at, x.Pos)
	}
}

// choose adds one of so many ways.
func (s *sketch) choose(ways int, add func(way int)) {
	s.loose, s.ways = true, max(s.ways, ways)
	add(min(s.way, ways-1))
}

// endsInNumber reports whether the last filter makes a number of whatever it is given.
func endsInNumber(x syntax.Expr) bool {
	f, ok := x.(*syntax.Filter)
	return ok && slices.Contains([]string{"int", "float", "length", "count", "round"}, f.Name)
}
