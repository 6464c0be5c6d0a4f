package contexts

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

// VisitNames returns what people read for visits: those of a graph without the number of their phase,
// unless another visit of the list would have the same name.
func VisitNames(visits []echo.Key) map[echo.Key]string {
	short := func(k echo.Key) string {
		p := k.Path()
		if p.Scope != "" {
			return k.String()
		}
		return echo.PhaseKey(p.Phase, p.Visit).String()
	}
	of := map[string]echo.Key{}
	twice := map[string]bool{}
	for _, k := range visits {
		name := short(k)
		if other, taken := of[name]; taken && other != k {
			twice[name] = true
		}
		of[name] = k
	}
	out := map[echo.Key]string{}
	for _, k := range visits {
		if out[k] = short(k); twice[out[k]] {
			out[k] = k.String()
		}
	}
	return out
}

func visitsOf(calls []inspect.Call) []echo.Key {
	var out []echo.Key
	for i := range calls {
		out = append(out, calls[i].Visit)
	}
	return out
}

// grouped returns the calls by their visits, in the order in which these first made one, and there by
// the branches of the visit: what ran in parallel is not mixed.
func grouped(calls []inspect.Call) []inspect.Call {
	first := map[echo.Key]int{}
	for i := range calls {
		if _, seen := first[calls[i].Visit]; !seen {
			first[calls[i].Visit] = i
		}
	}
	out := slices.Clone(calls)
	slices.SortStableFunc(out, func(a, b inspect.Call) int {
		return cmp.Or(cmp.Compare(first[a.Visit], first[b.Visit]), compareParts(a.Key, b.Key))
	})
	return out
}

func compareParts(a, b echo.Key) int {
	p, q := a.Path(), b.Path()
	return slices.CompareFunc(p.Parts(), q.Parts(), func(s, t echo.Step) int {
		return cmp.Or(-cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Number, t.Number)) // candidates, then steps of refinement
	})
}
