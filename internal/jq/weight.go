package jq

import (
	"slices"

	"github.com/itchyny/gojq"
)

// weightOf returns how often, at most, a part of the input occurs in the result of paths,
// iteration, select, map, lists and objects; 0: not known.
func weightOf(q *gojq.Query) int {
	if q == nil || q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return 0
	}
	if q.Term != nil {
		return weightOfTerm(q.Term)
	}
	switch q.Op {
	case gojq.OpPipe:
		return times(weightOf(q.Left), weightOf(q.Right))
	case gojq.OpComma:
		return plus(weightOf(q.Left), weightOf(q.Right))
	case gojq.OpAlt:
		if single(q.Left) && single(q.Right) {
			return plus(weightOf(q.Left), weightOf(q.Right))
		}
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe, gojq.OpAnd, gojq.OpOr:
		if single(q.Left) && single(q.Right) { // else every value is compared with every other
			return plus(weightOf(q.Left), weightOf(q.Right))
		}
	}
	return 0
}

// maxWeight is far above what a person writes and far below what overflows.
const maxWeight = 1 << 20

func times(a, b int) int { return checked(a, b, a*b) }

func plus(a, b int) int { return checked(a, b, a+b) }

func checked(a, b, both int) int {
	if a == 0 || b == 0 || both > maxWeight {
		return 0
	}
	return both
}

func weightOfTerm(t *gojq.Term) int {
	n := 1
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
	case gojq.TermTypeString:
		n = weightOfText(t.Str)
	case gojq.TermTypeIndex:
		n = weightOfIndex(t.Index)
	case gojq.TermTypeFunc:
		n = weightOfFunc(t.Func)
	case gojq.TermTypeObject:
		n = weightOfObject(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query != nil {
			n = weightOf(t.Array.Query)
		}
	case gojq.TermTypeQuery:
		n = weightOf(t.Query)
	default:
		return 0
	}
	for _, s := range t.SuffixList {
		if s.Index != nil {
			n = times(n, weightOfIndex(s.Index))
		}
	}
	return n
}

func weightOfText(s *gojq.String) int {
	if len(s.Queries) > 0 {
		return 0
	}
	return 1
}

// weightOfIndex knows the places that are written out.
func weightOfIndex(x *gojq.Index) int {
	for _, at := range []*gojq.Query{x.Start, x.End} {
		if at != nil && !constant(at) {
			return 0
		}
	}
	if x.Str != nil {
		return weightOfText(x.Str)
	}
	return 1
}

// constant reports whether a query is a number or a text as it stands, also a negative number.
func constant(q *gojq.Query) bool {
	t := q.Term
	if t == nil || len(q.FuncDefs) > 0 || len(t.SuffixList) > 0 {
		return false
	}
	if t.Type == gojq.TermTypeUnary {
		t = t.Unary.Term
	}
	return t.Type == gojq.TermTypeNumber || t.Type == gojq.TermTypeString && len(t.Str.Queries) == 0
}

// modest are functions that make nothing that is larger than what they are given.
var modest = []string{"length", "keys", "type", "not", "empty", "first", "last", "sort", "unique", "reverse", "min", "max", "values", "tonumber"}

func weightOfFunc(f *gojq.Func) int {
	switch {
	case len(f.Args) == 0 && slices.Contains(modest, f.Name):
		return 1
	case len(f.Args) == 1 && f.Name == "select" && single(f.Args[0]) && weightOf(f.Args[0]) > 0:
		return 1
	case len(f.Args) == 1 && f.Name == "map":
		return weightOf(f.Args[0])
	}
	return 0
}

func weightOfObject(o *gojq.Object) int {
	n := 1
	for _, kv := range o.KeyVals {
		switch {
		case kv.KeyQuery != nil || kv.KeyString != nil && len(kv.KeyString.Queries) > 0:
			return 0
		case kv.Val == nil && len(kv.Key) > 0 && kv.Key[0] == '$':
			return 0
		case kv.Val == nil:
			n = plus(n, 1)
		case single(kv.Val):
			n = plus(n, weightOf(kv.Val))
		default:
			return 0 // an object for each of its values
		}
	}
	return n
}

// single reports whether a query makes one value at most.
func single(q *gojq.Query) bool {
	switch {
	case q == nil || q.Op == gojq.OpComma:
		return false
	case q.Term == nil:
		return single(q.Left) && single(q.Right)
	}
	t := q.Term
	for _, s := range t.SuffixList {
		if s.Iter {
			return false
		}
	}
	if t.Type == gojq.TermTypeQuery {
		return single(t.Query)
	}
	return t.Type != gojq.TermTypeFunc || t.Func.Name != "select" || single(t.Func.Args[0])
}
