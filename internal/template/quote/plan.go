package quote

import "github.com/windlass-run/windlass/internal/template/syntax"

// Plan decides how each value of a template is written, and notes it in the tree. It refuses a
// value that cannot be quoted where it stands. An error is a [*syntax.Error].
func Plan(mode Mode, body syntax.Block) error {
	p := &planner{mode: mode, text: newTracker(mode)}
	if err := p.block(body); err != nil || mode != ModeShell {
		return err
	}
	return checkWays(body)
}

// planner goes over a template in the order of its text.
type planner struct {
	mode Mode
	text tracker // knows what stands around a value
}

func (p *planner) block(b syntax.Block) error {
	for _, s := range b {
		if err := p.stmt(s); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) stmt(s syntax.Stmt) error {
	switch s := s.(type) {
	case *syntax.Text:
		return p.text.constant(s.Pos, s.Text)
	case *syntax.Output:
		return p.output(s)
	}
	if err := p.text.boundary(s.Place()); err != nil {
		return err
	}
	switch s := s.(type) {
	case *syntax.If:
		return p.ifTag(s)
	case *syntax.For:
		return p.forTag(s)
	case *syntax.Set:
		if s.Value == nil {
			return p.captured(s.Pos, "set", s.Body)
		}
	case *syntax.With:
		return p.block(s.Body)
	case *syntax.Macro:
		return p.captured(s.Pos, "macro", s.Body)
	}
	return nil
}

func (p *planner) output(o *syntax.Output) error {
	for ; o != nil; o = o.Else {
		var err error
		if o.Style, err = p.text.value(o.Pos, o.Raw); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) ifTag(s *syntax.If) error {
	before, after := p.text, make([]tracker, 0, len(s.Arms))
	for _, a := range s.Arms {
		p.text = before.clone()
		if err := p.block(a.Body); err != nil {
			return err
		}
		after = append(after, p.text)
	}
	p.text = before.clone()
	if err := p.block(s.Else); err != nil {
		return err
	}
	return p.join(s.Pos, after...)
}

func (p *planner) forTag(s *syntax.For) error {
	before := p.text.clone()
	if err := p.block(s.Body); err != nil {
		return err
	}
	if err := p.join(s.Pos, before); err != nil || s.Else == nil { // none, or once more
		return err
	}
	body := p.text
	p.text = before
	if err := p.block(s.Else); err != nil {
		return err
	}
	return p.join(s.Pos, body)
}

// join checks that the text is in the same state after every way through a tag.
func (p *planner) join(at syntax.Pos, ways ...tracker) error {
	if err := p.text.boundary(at); err != nil {
		return err
	}
	for _, w := range ways {
		if err := w.boundary(at); err != nil {
			return err
		}
		if err := p.text.merge(at, w); err != nil {
			return err
		}
	}
	return nil
}

// captured goes over a body whose text becomes a value. In a text with quoting that value would be
// quoted a second time when it is written, so that it is not allowed there.
func (p *planner) captured(at syntax.Pos, tag string, body syntax.Block) error {
	if p.mode != ModeText {
		return at.Errorf("%s with a body is not allowed in %s", tag, p.mode)
	}
	return p.block(body)
}
