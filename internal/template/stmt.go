package template

import (
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

func renderBlock(f *frame, b syntax.Block) {
	for _, s := range b {
		render(f, s)
	}
}

func render(f *frame, s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Text:
		f.out = f.at(s.Pos).Append(f.out, s.Text)
	case *syntax.Output:
		renderOutput(f, s)
	case *syntax.If:
		renderIf(f, s)
	case *syntax.For:
		renderFor(f, s)
	case *syntax.Set:
		renderSet(f, s)
	case *syntax.With:
		renderWith(f, s)
	case *syntax.Macro:
		f.scope.set(s.Name, &macro{s})
	}
}

func renderOutput(f *frame, s *syntax.Output) {
	for s.When != nil && !f.truth(s.When) {
		if s = s.Else; s == nil {
			return
		}
	}
	v := f.value(s.X)
	r := f.at(s.X.Place())
	text := f.words.Write(r, s, v, len(f.out))
	r.SpendBytes(len(text))
	f.out = r.Append(f.out, text)
}

func renderIf(f *frame, s *syntax.If) {
	for _, a := range s.Arms {
		if f.truth(a.When) {
			renderBlock(f, a.Body)
			return
		}
	}
	renderBlock(f, s.Else)
}

func renderFor(f *frame, s *syntax.For) {
	items := loopItems(f, s)
	if len(items) == 0 {
		renderBlock(f, s.Else)
		return
	}
	depth := 1
	if outer, ok := f.scope.get("loop"); ok && s.UsesLoop {
		d, _ := value.Member(outer, "depth")
		if n, ok := d.(int64); ok {
			depth = int(n) + 1
		}
	}
	for i, item := range items {
		f.at(s.Pos).Spend(1)
		in := bindItem(f, s, item)
		if s.UsesLoop {
			in.scope.set("loop", loopVars(items, i, depth))
		}
		renderBlock(in, s.Body)
	}
}

// loopItems returns what a loop goes over, without what its condition leaves out.
func loopItems(f *frame, s *syntax.For) []any {
	v := f.value(s.List)
	all := f.at(s.List.Place()).Iterate(v)
	if s.When == nil {
		return all
	}
	var items []any
	for _, item := range all {
		if bindItem(f, s, item).truth(s.When) {
			items = append(items, item)
		}
	}
	return items
}

// bindItem returns a frame in which the names of a loop are bound to an item.
func bindItem(f *frame, s *syntax.For, item any) *frame {
	in := f.inner()
	item = value.Plain(item)
	if len(s.Names) == 1 {
		in.scope.set(s.Names[0], item)
		return in
	}
	pair, ok := item.([]any)
	if !ok || len(pair) != len(s.Names) {
		f.fail(s.Pos, "cannot take %d names from %s; for an object write .items()", len(s.Names), value.Kind(item))
	}
	for i, n := range s.Names {
		in.scope.set(n, value.Plain(pair[i]))
	}
	return in
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

func renderSet(f *frame, s *syntax.Set) {
	var v any
	if s.Value != nil {
		v = f.value(s.Value)
	} else {
		v = capture(f.inner(), s.Body)
	}
	f.place = s.Pos
	if s.Member == "" {
		if _, ok := v.(*macro); ok {
			panic(value.NotPlain())
		}
		f.scope.set(s.Name, v)
		return
	}
	target, _ := f.scope.get(s.Name)
	ns, ok := target.(*value.Namespace)
	if !ok {
		f.fail(s.Pos, "%s is not a namespace: begin with {%% set %s = namespace() %%}", s.Name, s.Name)
	}
	if _, ok := v.(*value.Namespace); ok {
		panic(value.NotPlain())
	}
	ns.Members[s.Member] = v
}

// capture returns what a body renders.
func capture(f *frame, b syntax.Block) string {
	outer := f.out
	f.out = nil
	renderBlock(f, b)
	text := string(f.out)
	f.out = outer
	return text
}

func renderWith(f *frame, s *syntax.With) {
	in := f.inner()
	for i, n := range s.Names {
		in.scope.set(n, f.value(s.Values[i]))
	}
	renderBlock(in, s.Body)
}
