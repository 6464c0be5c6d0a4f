package quote

import "github.com/windlass-run/windlass/internal/template/syntax"

// Plan notes in the tree how each value is written, or refuses it with a [*syntax.Error].
func Plan(mode Mode, body syntax.Block) (err error) {
	defer syntax.Recover(&err)
	p := &planner{mode: mode}
	switch mode {
	case ModeShell:
		p.text = &shellTracker{}
	case ModeURL, ModeForm:
		p.text = &urlTracker{query: mode == ModeForm}
	case ModeJSON:
		p.text = &jsonTracker{}
	default:
		return nil // every value is written as it is
	}
	p.block(body)
	if mode == ModeShell {
		checkWays(body)
	}
	return nil
}

type planner struct {
	mode Mode
	text tracker // knows what stands around a value
}

func (p *planner) block(b syntax.Block) {
	for _, s := range b {
		p.stmt(s)
	}
}

func (p *planner) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Text:
		p.text.constant(s.Pos, s.Text)
		return
	case *syntax.Output:
		for ; s != nil; s = s.Else {
			s.Style = p.text.value(s.Pos, s.Raw)
		}
		return
	}
	p.text.boundary(s.Place())
	switch s := s.(type) {
	case *syntax.If:
		p.ifTag(s)
	case *syntax.For:
		p.forTag(s)
	case *syntax.Set:
		if s.Value == nil {
			p.refuseBody(s.Pos, "set")
		}
	case *syntax.With:
		p.block(s.Body)
	case *syntax.Macro:
		p.refuseBody(s.Pos, "macro")
	}
}

// refuseBody refuses a body whose text becomes a value: it would be quoted twice.
func (p *planner) refuseBody(at syntax.Pos, tag string) {
	panic(at.Errorf("%s with a body is not allowed in %s", tag, p.mode))
}

func (p *planner) ifTag(s *syntax.If) {
	before, after := p.text, make([]tracker, 0, len(s.Arms))
	for _, a := range s.Arms {
		p.text = before.clone()
		p.block(a.Body)
		after = append(after, p.text)
	}
	p.text = before.clone()
	p.block(s.Else)
	p.join(s.Pos, after...)
}

func (p *planner) forTag(s *syntax.For) {
	before := p.text.clone()
	p.block(s.Body)
	p.join(s.Pos, before)
	if s.Else == nil { // none, or once more
		return
	}
	body := p.text
	p.text = before
	p.block(s.Else)
	p.join(s.Pos, body)
}

// join checks that the text is in the same state after every way through a tag.
func (p *planner) join(at syntax.Pos, ways ...tracker) {
	p.text.boundary(at)
	for _, w := range ways {
		w.boundary(at)
		p.text.merge(at, w)
	}
}
