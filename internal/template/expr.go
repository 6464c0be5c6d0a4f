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
func (f *frame) eval(e syntax.Expr) (any, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return e.Value, nil
	case *syntax.Lookup:
		return f.lookup(e)
	case *syntax.Filter:
		return f.filter(e)
	case *syntax.Default:
		return f.orDefault(e)
	case *syntax.Binary:
		return f.binary(e)
	case *syntax.Not:
		ok, err := f.truth(e.X)
		return !ok, err
	case *syntax.Test:
		return f.test(e)
	case *syntax.Call:
		return f.call(e)
	case *syntax.Method:
		return f.method(e)
	case *syntax.Choice:
		return choice(f, e)
	case *syntax.List:
		return f.list(e)
	case *syntax.Object:
		return f.object(e)
	case *syntax.Slice:
		return f.slice(e)
	case *syntax.Sign:
		return sign(f, e)
	}
	return nil, fmt.Errorf("there is no evaluation of %T", e)
}

// spend counts one step of work on an expression.
func (f *frame) spend(e syntax.Expr) error { return fail(e.Place(), f.Spend(1)) }

func (f *frame) list(e *syntax.List) (any, error) {
	if err := f.SpendItems(len(e.Items)); err != nil {
		return nil, fail(e.Pos, err)
	}
	return f.plains(e.Items)
}

func (f *frame) object(e *syntax.Object) (any, error) {
	if err := f.SpendItems(len(e.Keys)); err != nil {
		return nil, fail(e.Pos, err)
	}
	m := make(map[string]any, len(e.Keys))
	for i, k := range e.Keys {
		key, err := f.plain(k)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fail(k.Place(), fmt.Errorf("the key of an object is %s, not a string", value.Kind(key)))
		}
		if m[name], err = f.plain(e.Values[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (f *frame) slice(e *syntax.Slice) (any, error) {
	v, err := f.value(e.X)
	if err != nil {
		return nil, err
	}
	bounds := [3]*int64{}
	for i, x := range []syntax.Expr{e.From, e.To, e.By} {
		if x == nil {
			continue
		}
		b, err := f.value(x)
		if err != nil {
			return nil, err
		}
		n, ok := b.(int64)
		if !ok {
			return nil, fail(x.Place(), fmt.Errorf("the bound of a slice is %s, not an integer", value.Kind(b)))
		}
		bounds[i] = &n
	}
	out, err := f.Slice(v, bounds[0], bounds[1], bounds[2])
	return out, fail(e.Pos, err)
}

func choice(f *frame, e *syntax.Choice) (any, error) {
	ok, err := f.truth(e.When)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return f.eval(e.Then)
	case e.Else != nil:
		return f.eval(e.Else)
	}
	return "", nil
}

func sign(f *frame, e *syntax.Sign) (any, error) {
	v, err := f.value(e.X)
	if err != nil {
		return nil, err
	}
	switch n := v.(type) {
	case int64:
		if e.Negative {
			return -n, nil
		}
		return n, nil
	case float64:
		if e.Negative {
			return -n, nil
		}
		return n, nil
	case json.Number:
		return n, nil
	}
	return nil, fail(e.Pos, fmt.Errorf("cannot put a sign before %s", value.Kind(v)))
}

func (f *frame) binary(e *syntax.Binary) (any, error) {
	if err := f.spend(e); err != nil {
		return nil, err
	}
	a, err := f.value(e.A)
	if err != nil {
		return nil, err
	}
	if (e.Op == "and" || e.Op == "or") && value.Truthy(a) == (e.Op == "or") {
		return a, nil
	}
	b, err := f.value(e.B)
	if err != nil || e.Op == "and" || e.Op == "or" {
		return b, err
	}
	v, err := f.Apply(e.Op, a, b)
	return v, fail(e.Pos, err)
}

func (f *frame) filter(e *syntax.Filter) (any, error) {
	if err := f.spend(e); err != nil {
		return nil, err
	}
	v, err := f.plain(e.X)
	if err != nil {
		return nil, err
	}
	args, named, err := f.arguments(&e.Args)
	if err != nil {
		return nil, err
	}
	out, err := f.Filter(e.Name, v, args, named)
	return out, fail(e.Pos, err)
}

func (f *frame) orDefault(e *syntax.Default) (any, error) {
	if err := f.spend(e); err != nil {
		return nil, err
	}
	v, err := f.eval(e.X)
	if err != nil {
		return nil, err
	}
	if _, missing := v.(*undefined); missing {
		return f.eval(e.Instead)
	}
	if e.Falsy == nil || value.Truthy(v) {
		return v, nil
	}
	too, err := f.truth(e.Falsy)
	if err != nil || !too {
		return v, err
	}
	return f.eval(e.Instead)
}

func (f *frame) test(e *syntax.Test) (any, error) {
	v, err := f.eval(e.X)
	if err != nil {
		return nil, err
	}
	_, missing := v.(*undefined)
	switch e.Name {
	case "defined":
		return !missing, nil
	case "undefined":
		return missing, nil
	}
	if v, err = f.force(v); err != nil {
		return nil, err
	}
	args, _, err := f.arguments(&e.Args)
	if err != nil {
		return nil, err
	}
	ok, err := f.Test(e.Name, v, args)
	return ok, fail(e.Pos, err)
}

func (f *frame) method(e *syntax.Method) (any, error) {
	if err := f.spend(e); err != nil {
		return nil, err
	}
	v, err := f.value(e.X)
	if err != nil {
		return nil, err
	}
	args, _, err := f.arguments(&e.Args)
	if err != nil {
		return nil, err
	}
	out, err := f.Method(v, e.Name, args)
	return out, fail(e.Pos, err)
}

func (f *frame) lookup(e *syntax.Lookup) (any, error) {
	if err := f.Spend(1 + len(e.Steps)); err != nil {
		return nil, fail(e.Pos, err)
	}
	v, soft, err := f.start(e)
	if err != nil {
		return nil, err
	}
	for i := range e.Steps {
		if _, ok := v.(*undefined); ok {
			return v, nil
		}
		key, err := f.key(&e.Steps[i])
		if err != nil {
			return nil, err
		}
		next, ok := value.Member(v, key)
		if !ok {
			path := pathOf(f, e, i)
			return &undefined{at: e.Pos, name: path + keyText(key), hint: value.HintFor(v, key, path), soft: soft}, nil
		}
		v = value.Plain(next)
	}
	return v, nil
}

// start returns what the steps begin at, and whether missing entries are only warned about.
func (f *frame) start(e *syntax.Lookup) (v any, soft bool, err error) {
	if e.Base != nil {
		v, err = f.eval(e.Base)
		return v, false, err
	}
	if v, ok := f.scope.get(e.Name); ok {
		return v, false, nil
	}
	if v, ok := f.vars[e.Name]; ok {
		return value.Plain(v), e.Name == "state" || e.Name == "outputs", nil
	}
	return &undefined{at: e.Pos, name: e.Name, hint: hint.Guess(e.Name, "", namesIn(f))}, false, nil
}

func (f *frame) key(s *syntax.Step) (any, error) {
	if s.Index == nil {
		return s.Key, nil
	}
	return f.plain(s.Index)
}

// pathOf writes the lookup up to the nth step, for messages.
func pathOf(f *frame, e *syntax.Lookup, n int) string {
	p := e.Name
	if e.Base != nil {
		p = "(expression)"
	}
	for i := range e.Steps[:n] {
		key, err := f.key(&e.Steps[i])
		if err != nil {
			return p + "[...]"
		}
		p += keyText(key)
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
