package template

import (
	"fmt"

	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

func renderBlock(f *frame, b syntax.Block) error {
	for _, s := range b {
		if err := render(f, s); err != nil {
			return err
		}
	}
	return nil
}

func render(f *frame, s syntax.Stmt) error {
	switch s := s.(type) {
	case *syntax.Text:
		var err error
		f.out, err = f.Append(f.out, s.Text)
		return fail(s.Pos, err)
	case *syntax.Output:
		return renderOutput(f, s)
	case *syntax.If:
		return renderIf(f, s)
	case *syntax.For:
		return renderFor(f, s)
	case *syntax.Set:
		return renderSet(f, s)
	case *syntax.With:
		return renderWith(f, s)
	case *syntax.Macro:
		f.set(s.Name, &macro{s})
	}
	return nil
}

func renderOutput(f *frame, s *syntax.Output) error {
	for s.When != nil {
		ok, err := f.truth(s.When)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		if s = s.Else; s == nil {
			return nil
		}
	}
	v, err := f.value(s.X)
	if err != nil {
		return err
	}
	text, err := f.words.Write(&f.Run, s, v, len(f.out))
	if err == nil {
		err = f.SpendBytes(len(text))
	}
	if err == nil {
		f.out, err = f.Append(f.out, text)
	}
	return fail(s.X.Place(), err)
}

func renderIf(f *frame, s *syntax.If) error {
	for _, a := range s.Arms {
		ok, err := f.truth(a.When)
		if err != nil {
			return err
		}
		if ok {
			return renderBlock(f, a.Body)
		}
	}
	return renderBlock(f, s.Else)
}

func renderFor(f *frame, s *syntax.For) error {
	items, err := loopItems(f, s)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return renderBlock(f, s.Else)
	}
	depth := 1
	if outer, ok := f.scope.get("loop"); ok && s.UsesLoop {
		d, _ := value.Member(outer, "depth")
		if n, ok := d.(int64); ok {
			depth = int(n) + 1
		}
	}
	for i, item := range items {
		if err := f.Spend(1); err != nil {
			return fail(s.Pos, err)
		}
		in := f.inner()
		if err := bindItem(in, s, item); err != nil {
			return err
		}
		if s.UsesLoop {
			in.scope.set("loop", loopVars(items, i, depth))
		}
		if err := renderBlock(in, s.Body); err != nil {
			return err
		}
	}
	return nil
}

// loopItems returns what a loop goes over, without what its condition leaves out.
func loopItems(f *frame, s *syntax.For) ([]any, error) {
	v, err := f.value(s.List)
	if err != nil {
		return nil, err
	}
	all, err := f.Iterate(v)
	if err != nil || s.When == nil {
		return all, fail(s.List.Place(), err)
	}
	var items []any
	for _, item := range all {
		in := f.inner()
		if err := bindItem(in, s, item); err != nil {
			return nil, err
		}
		ok, err := in.truth(s.When)
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, item)
		}
	}
	return items, nil
}

func bindItem(f *frame, s *syntax.For, item any) error {
	item = value.Plain(item)
	if len(s.Names) == 1 {
		f.scope.set(s.Names[0], item)
		return nil
	}
	pair, ok := item.([]any)
	if !ok || len(pair) != len(s.Names) {
		return fail(s.Pos, fmt.Errorf("cannot take %d names from %s; for an object write .items()", len(s.Names), value.Kind(item)))
	}
	for i, n := range s.Names {
		f.scope.set(n, value.Plain(pair[i]))
	}
	return nil
}

func loopVars(items []any, i, depth int) map[string]any {
	n := len(items)
	vars := map[string]any{
		"index": int64(i + 1), "index0": int64(i), "revindex": int64(n - i), "revindex0": int64(n - i - 1),
		"first": i == 0, "last": i == n-1, "length": int64(n), "depth": int64(depth), "depth0": int64(depth - 1),
		"previtem": nil, "nextitem": nil,
	}
	if i > 0 {
		vars["previtem"] = value.Plain(items[i-1])
	}
	if i < n-1 {
		vars["nextitem"] = value.Plain(items[i+1])
	}
	return vars
}

func renderSet(f *frame, s *syntax.Set) error {
	var v any
	var err error
	if s.Value != nil {
		v, err = f.value(s.Value)
	} else {
		v, err = capture(f.inner(), s.Body)
	}
	if err != nil {
		return err
	}
	if s.Member == "" {
		if _, ok := v.(*macro); ok {
			return fail(s.Pos, value.ErrNotPlain)
		}
		f.set(s.Name, v)
		return nil
	}
	target, _ := f.scope.get(s.Name)
	ns, ok := target.(*value.Namespace)
	if !ok {
		return fail(s.Pos, fmt.Errorf("%s is not a namespace: begin with {%% set %s = namespace() %%}", s.Name, s.Name))
	}
	if _, ok := v.(*value.Namespace); ok {
		return fail(s.Pos, value.ErrNotPlain)
	}
	ns.Members[s.Member] = v
	return nil
}

// capture returns what a body renders.
func capture(f *frame, b syntax.Block) (string, error) {
	outer := f.out
	f.out = nil
	err := renderBlock(f, b)
	text := string(f.out)
	f.out = outer
	return text, err
}

func renderWith(f *frame, s *syntax.With) error {
	in := f.inner()
	for i, n := range s.Names {
		v, err := f.value(s.Values[i])
		if err != nil {
			return err
		}
		in.scope.set(n, v)
	}
	return renderBlock(in, s.Body)
}
