package template

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/windlass-run/windlass/internal/template/hint"
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// eval returns a value, perhaps an *undefined; whoever uses it forces it ([frame.force]).
func (f *frame) eval(e syntax.Expr) any {
	switch e := e.(type) {
	case *syntax.Literal:
		return e.Value
	case *syntax.Lookup:
		return f.lookup(e)
	case *syntax.Filter:
		f.at(e.Pos).Spend(1)
		v := f.plain(e.X)
		args, named := f.arguments(&e.Args)
		return f.at(e.Pos).Filter(e.Name, v, args, named)
	case *syntax.Default:
		return f.orDefault(e)
	case *syntax.Binary:
		return f.binary(e)
	case *syntax.Not:
		return !f.truth(e.X)
	case *syntax.Test:
		return f.test(e)
	case *syntax.Call:
		return f.call(e)
	case *syntax.Method:
		f.at(e.Pos).Spend(1)
		v := f.value(e.X)
		args, _ := f.arguments(&e.Args)
		return f.at(e.Pos).Method(v, e.Name, args)
	case *syntax.Choice:
		return choice(f, e)
	case *syntax.List:
		f.at(e.Pos).SpendItems(len(e.Items))
		return f.plains(e.Items)
	case *syntax.Object:
		return f.object(e)
	case *syntax.Slice:
		v, from, to, by := f.value(e.X), f.bound(e.From), f.bound(e.To), f.bound(e.By)
		return f.at(e.Pos).Slice(v, from, to, by)
	case *syntax.Sign:
		return sign(f, e)
	}
	panic(fmt.Sprintf("there is no evaluation of %T", e))
}

func (f *frame) object(e *syntax.Object) any {
	f.at(e.Pos).SpendItems(len(e.Keys))
	m := make(map[string]any, len(e.Keys))
	for i, k := range e.Keys {
		key := f.plain(k)
		name, ok := key.(string)
		if !ok {
			f.fail(k.Place(), "the key of an object is %s, not a string", value.Kind(key))
		}
		m[name] = f.plain(e.Values[i])
	}
	return m
}

// bound evaluates a bound of a slice; one that is not given is nil.
func (f *frame) bound(x syntax.Expr) *int64 {
	if x == nil {
		return nil
	}
	b := f.value(x)
	n, ok := b.(int64)
	if !ok {
		f.fail(x.Place(), "the bound of a slice is %s, not an integer", value.Kind(b))
	}
	return &n
}

func choice(f *frame, e *syntax.Choice) any {
	switch {
	case f.truth(e.When):
		return f.eval(e.Then)
	case e.Else != nil:
		return f.eval(e.Else)
	}
	return ""
}

func sign(f *frame, e *syntax.Sign) any {
	v := f.value(e.X)
	switch n := v.(type) {
	case int64:
		if e.Negative {
			return -n
		}
	case float64:
		if e.Negative {
			return -n
		}
	case json.Number:
	default:
		f.fail(e.Pos, "cannot put a sign before %s", value.Kind(v))
	}
	return v
}

func (f *frame) binary(e *syntax.Binary) any {
	f.at(e.Pos).Spend(1)
	a := f.value(e.A)
	if (e.Op == "and" || e.Op == "or") && value.Truthy(a) == (e.Op == "or") {
		return a
	}
	b := f.value(e.B)
	if e.Op == "and" || e.Op == "or" {
		return b
	}
	return f.at(e.Pos).Apply(e.Op, a, b)
}

func (f *frame) orDefault(e *syntax.Default) any {
	f.at(e.Pos).Spend(1)
	v := f.eval(e.X)
	_, missing := v.(*undefined)
	if missing || e.Falsy != nil && !value.Truthy(v) && f.truth(e.Falsy) {
		return f.eval(e.Instead)
	}
	return v
}

func (f *frame) test(e *syntax.Test) any {
	v := f.eval(e.X)
	_, missing := v.(*undefined)
	switch e.Name {
	case "defined":
		return !missing
	case "undefined":
		return missing
	}
	v = f.force(v)
	args, _ := f.arguments(&e.Args)
	return f.at(e.Pos).Test(e.Name, v, args)
}

func (f *frame) lookup(e *syntax.Lookup) any {
	f.at(e.Pos).Spend(1 + len(e.Steps))
	v, soft := f.start(e)
	for i := range e.Steps {
		if _, ok := v.(*undefined); ok {
			return v
		}
		key := f.key(&e.Steps[i])
		next, ok := value.Member(v, key)
		if !ok {
			path := pathOf(f, e, i)
			return &undefined{at: e.Pos, name: path + keyText(key), hint: f.memberHint(v, key, path), soft: soft}
		}
		v = value.Plain(next)
	}
	return v
}

// start returns what the steps begin at, and whether missing entries are only warned about.
func (f *frame) start(e *syntax.Lookup) (v any, soft bool) {
	if e.Base != nil {
		return f.eval(e.Base), false
	}
	if v, ok := f.scope.get(e.Name); ok {
		return v, false
	}
	if v, ok := f.vars[e.Name]; ok {
		return value.Plain(v), e.Name == "state" || e.Name == "outputs"
	}
	return &undefined{at: e.Pos, name: e.Name, hint: hint.Guess(e.Name, "", namesIn(f))}, false
}

func (f *frame) key(s *syntax.Step) any {
	if s.Index == nil {
		return s.Key
	}
	return f.plain(s.Index)
}

// expressionPath stands in messages for a value that is no variable.
const expressionPath = "(expression)"

// pathOf writes the lookup up to the nth step, for messages.
func pathOf(f *frame, e *syntax.Lookup, n int) string {
	p := e.Name
	if e.Base != nil {
		p = expressionPath
	}
	for i := range e.Steps[:n] {
		p += keyText(f.key(&e.Steps[i]))
	}
	return p
}

func keyText(key any) string {
	switch k := key.(type) {
	case string:
		if syntax.IsName(k) {
			return "." + k
		}
		return fmt.Sprintf("[%q]", k)
	case int64:
		return "[" + strconv.FormatInt(k, 10) + "]"
	default:
		return fmt.Sprintf("[%v]", k)
	}
}
